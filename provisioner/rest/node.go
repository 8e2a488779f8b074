package rest

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// NewNode serves the node API. Its callers' identity is HeaderCertSubject: keep it behind the ingress.
func NewNode(f *fleet.Fleet, says *telemetry.Source, log *slog.Logger) http.Handler {
	e := server(says, log)
	h := nodeHandlers{f}
	e.POST("/internal/v1/nodes/enroll", h.enrol)
	e.GET("/internal/v1/nodes/:node/tasks/wait", h.wait)
	e.POST("/internal/v1/nodes/:node/heartbeat", h.heartbeat)
	e.POST("/internal/v1/nodes/:node/tasks/:task/renew", h.renew)
	e.POST("/internal/v1/nodes/:node/tasks/:task/result", h.result)
	return e
}

type nodeHandlers struct{ fleet *fleet.Fleet }

func (h nodeHandlers) enrol(c echo.Context) error {
	var r EnrolRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := firstOf(identifier("token", r.Token, false), identifier("boot_id", r.BootID, false), identifier("host_name", r.HostName, false)); err != nil {
		return err
	}
	a, err := h.fleet.Enrol(c.Request().Context(), r.Token, r.BootID, r.HostName)
	if err != nil {
		return err
	}
	telemetry.Current(c.Request().Context()).Set(slog.String(semconv.NodeID, a.NodeID), slog.String(semconv.NodeInstanceID, a.InstanceID))
	return c.JSON(http.StatusCreated, Enrolled{a.NodeID, a.InstanceID})
}

func (h nodeHandlers) wait(c echo.Context) error {
	a, err := agent(c)
	if err != nil {
		return err
	}
	longest := 20 * time.Second
	if v := c.QueryParam("timeout"); v != "" {
		if longest, err = time.ParseDuration(v); err != nil || longest < 0 {
			return bad("timeout: %q is no duration", v)
		}
	}
	k, ok, err := h.fleet.Wait(c.Request().Context(), a, longest)
	if err != nil {
		return err
	}
	if !ok {
		return c.NoContent(http.StatusNoContent)
	}
	return c.JSON(http.StatusOK, taskOf(k))
}

func (h nodeHandlers) heartbeat(c echo.Context) error {
	a, err := agent(c)
	if err != nil {
		return err
	}
	if err := h.fleet.Heartbeat(c.Request().Context(), a); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (h nodeHandlers) renew(c echo.Context) error {
	a, err := agent(c)
	if err != nil {
		return err
	}
	var r ClaimRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := claim(c, r.ClaimID, r.Fence); err != nil {
		return err
	}
	until, err := h.fleet.Renew(c.Request().Context(), a, c.Param("task"), r.ClaimID, r.Fence)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, Renewed{until.UTC()})
}

func (h nodeHandlers) result(c echo.Context) error {
	a, err := agent(c)
	if err != nil {
		return err
	}
	var r ResultRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := firstOf(claim(c, r.ClaimID, r.Fence), identifier("code", r.Code, true), text("message", r.Message, 8<<10),
		identifier("observed", r.Observed, true)); err != nil {
		return err
	}
	err = h.fleet.Report(c.Request().Context(), a, c.Param("task"), r.ClaimID, r.Fence, fleet.Result{
		OK: r.OK, Code: r.Code, Message: r.Message, Observed: r.Observed,
	})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// agent is who calls: the certificate must be that of the node in the path.
func agent(c echo.Context) (fleet.Agent, error) {
	r := c.Request()
	subject := r.Header.Get(HeaderCertSubject)
	name, ok := strings.CutPrefix(subject, "CN=")
	if !ok || identifier("subject", name, false) != nil {
		return fleet.Agent{}, invalid{http.StatusUnauthorized, "invalid node identity"}
	}
	if name != c.Param("node") {
		return fleet.Agent{}, invalid{http.StatusForbidden, "the certificate is another node's"}
	}
	instance := r.Header.Get(HeaderInstance)
	if err := identifier(HeaderInstance, instance, false); err != nil {
		return fleet.Agent{}, err
	}
	ctx := telemetry.With(r.Context(), semconv.NodeID, name, semconv.NodeInstanceID, instance)
	telemetry.Current(ctx).Set(slog.String(semconv.NodeID, name), slog.String(semconv.NodeInstanceID, instance))
	c.SetRequest(r.WithContext(ctx))
	return fleet.Agent{NodeID: name, InstanceID: instance}, nil
}

func claim(c echo.Context, id string, fence int64) error {
	if err := firstOf(identifier("task", c.Param("task"), false), identifier("claim_id", id, false)); err != nil {
		return err
	}
	if fence < 1 {
		return bad("fence: must be at least 1")
	}
	return nil
}

func taskOf(k store.Task) Task {
	return Task{
		TaskID: k.ID, Type: k.Type, AllocationID: k.AllocationID, WorkflowID: k.WorkflowID, CorrelationID: k.CorrelationID, Attempt: k.Attempt,
		ClaimID: k.Claim.ID, Fence: k.Claim.Fence, LeaseUntil: k.Claim.LeaseUntil.UTC(), Traceparent: k.Trace.String(),
	}
}
