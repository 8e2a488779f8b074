package rest

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// longest list and words that are taken.
const (
	maxPage   = 500
	maxReason = 1 << 10
)

// NewControl serves the control API: what tenants ask for, by way of an API service in front that has
// authorised them, and recovery for operators. The gate asks callers who they are; where it doesn't, it
// trusts whoever reaches it.
func NewControl(c *control.Control, d *recovery.Service, gate *access.Gate, emitter *telemetry.Emitter, log *slog.Logger) http.Handler {
	e := server(emitter, log)
	h := controlHandlers{control: c, recovery: d, admission: admission{gate, d, log, newAllowance(10, time.Minute)}}
	at := h.at
	e.POST("/v1/allocations", at(access.Operator, h.create))
	e.GET("/v1/allocations", at(access.Viewer, h.list))
	e.GET("/v1/allocations/:allocation", at(access.Viewer, h.get))
	e.POST("/v1/allocations/:allocation/cancel", at(access.Operator, h.cancel))
	e.POST("/v1/allocations/:allocation/release", at(access.Operator, h.release))
	e.POST("/v1/nodes", at(access.Admin, h.register))
	e.GET("/v1/nodes", at(access.Viewer, h.nodes))
	e.POST("/v1/nodes/:node/repair", at(access.Admin, h.repair))
	e.GET("/v1/recovery/actions", at(access.Viewer, h.actions))
	e.GET("/v1/recovery/stuck", at(access.Viewer, h.stuck))
	e.GET("/v1/audit", at(access.Viewer, h.audit))
	e.POST("/v1/recovery/:of/:id/:action", h.recover) // its role is the action's
	return e
}

type controlHandlers struct {
	admission
	control  *control.Control
	recovery *recovery.Service
}

func (h controlHandlers) create(c echo.Context) error {
	var r AllocationRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := firstOf(identifier("allocation_id", r.AllocationID, true), identifier("node_pool", r.NodePool, false),
		identifier("image", r.Image, false), identifier("requested_by", r.RequestedBy, false)); err != nil {
		return err
	}
	ctx := c.Request().Context()
	a, created, err := h.control.Create(ctx, control.Request{ID: r.AllocationID, Pool: r.NodePool, Image: r.Image, RequestedBy: r.RequestedBy})
	if err != nil {
		return err
	}
	telemetry.Current(ctx).Set(slog.String(semconv.AllocationID, a.ID))
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.JSON(status, allocation(a))
}

func (h controlHandlers) get(c echo.Context) error {
	if err := identifier("allocation", c.Param("allocation"), false); err != nil {
		return err
	}
	a, err := h.control.Get(c.Request().Context(), c.Param("allocation"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, allocation(a))
}

func (h controlHandlers) list(c echo.Context) error {
	f := store.Filter{State: c.QueryParam("state"), Live: c.QueryParam("live") == "true", After: c.QueryParam("after"), Limit: 100}
	if err := firstOf(identifier("state", f.State, true), identifier("after", f.After, true)); err != nil {
		return err
	}
	if err := limit(c, &f.Limit); err != nil {
		return err
	}
	all, err := h.control.List(c.Request().Context(), f)
	if err != nil {
		return err
	}
	out := Allocations{Allocations: []Allocation{}}
	for _, a := range all {
		out.Allocations = append(out.Allocations, allocation(a))
	}
	if len(all) == f.Limit {
		out.Next = all[len(all)-1].ID
	}
	return c.JSON(http.StatusOK, out)
}

func (h controlHandlers) cancel(c echo.Context) error  { return h.act(c, h.control.Cancel) }
func (h controlHandlers) release(c echo.Context) error { return h.act(c, h.control.Release) }

func (h controlHandlers) register(c echo.Context) error {
	var r NodeRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := firstOf(identifier("node_id", r.NodeID, false), identifier("node_pool", r.NodePool, false)); err != nil {
		return err
	}
	token, expires, err := h.control.RegisterNode(c.Request().Context(), r.NodeID, r.NodePool)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, NodeToken{r.NodeID, token, expires})
}

func (h controlHandlers) nodes(c echo.Context) error {
	all, err := h.control.Nodes(c.Request().Context())
	if err != nil {
		return err
	}
	out := make([]Node, 0, len(all))
	for _, n := range all {
		out = append(out, node(n))
	}
	return c.JSON(http.StatusOK, out)
}

func asker(c echo.Context) (control.Asker, error) {
	var r ActionRequest
	if err := read(c, &r); err != nil {
		return control.Asker{}, err
	}
	if r.ActorType == "" {
		r.ActorType = "user"
	}
	if !slices.Contains([]string{"user", "admin", "system", "billing"}, r.ActorType) {
		return control.Asker{}, bad("actor_type: none of user, admin, system, billing")
	}
	err := firstOf(identifier("allocation", c.Param("allocation"), false), identifier("actor", r.Actor, false), text("reason", r.Reason, maxReason))
	return control.Asker{Actor: r.Actor, ActorType: r.ActorType, Reason: r.Reason}, err
}

func allocation(a store.Allocation) Allocation {
	return Allocation{
		AllocationID: a.ID, NodePool: a.Pool, Image: a.Image, RequestedBy: a.RequestedBy, CorrelationID: a.CorrelationID,
		State: a.State, Reason: a.Reason, NodeID: a.NodeID, Version: a.Version, Since: a.Since.UTC(), CreatedAt: a.CreatedAt,
	}
}

func node(n store.Node) Node {
	out := Node{NodeID: n.ID, NodePool: n.Pool, Occupancy: n.Occupancy, AllocationID: n.AllocationID, NodeInstanceID: n.InstanceID}
	if !n.SeenAt.IsZero() {
		out.SeenAt = &n.SeenAt
	}
	return out
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// act is a request of somebody that an allocation be moved.
func (h controlHandlers) act(c echo.Context, do func(context.Context, string, control.Asker) (store.Allocation, error)) error {
	by, err := asker(c)
	if err != nil {
		return err
	}
	a, err := do(c.Request().Context(), c.Param("allocation"), by)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, allocation(a))
}

// limit reads the length of a page, if the caller has one in mind.
func limit(c echo.Context, into *int) error {
	v := c.QueryParam("limit")
	if v == "" {
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > maxPage {
		return bad("limit: must be 1 to %d", maxPage)
	}
	*into = n
	return nil
}
