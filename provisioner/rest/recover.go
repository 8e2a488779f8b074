package rest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
)

// actorAdmin is the type of those who recover: on the timeline it is an operator's hand.
const actorAdmin = "admin"

// Headers of recovery.
const (
	// HeaderIdempotencyKey is the caller's key: the same request under it is done once.
	HeaderIdempotencyKey = "Idempotency-Key"
	// HeaderReplayed says that the answer is the one of the first time.
	HeaderReplayed = "Idempotency-Replayed"
)

func (h controlHandlers) actions(c echo.Context) error {
	out := RecoveryActions{Actions: []RecoveryAction{}}
	for _, a := range recovery.Actions() {
		line := RecoveryAction{
			Name: a.Name, Of: a.Of, Path: "/v1/recovery/" + string(a.Of) + "/{id}/" + a.Name, Role: a.Role, Does: a.Does, When: a.When, Moves: a.Moves, AuditAction: a.Audit,
		}
		for _, g := range a.Guards {
			line.Guards = append(line.Guards, RecoveryGuard{g.Name, string(g.Refusal), g.SatisfiedBy()})
		}
		out.Actions = append(out.Actions, line)
	}
	return c.JSON(http.StatusOK, out)
}

func (h controlHandlers) stuck(c echo.Context) error {
	var older time.Duration
	if v := c.QueryParam("older"); v != "" {
		var err error
		if older, err = time.ParseDuration(v); err != nil || older <= 0 {
			return bad("older: %q is no positive duration, such as 10m", v)
		}
	}
	kind := c.QueryParam("kind")
	if kind != "" && !slices.Contains(recovery.Kinds(), kind) {
		return bad("kind: none of %s", strings.Join(recovery.Kinds(), ", "))
	}
	all, err := h.recovery.Stuck(c.Request().Context(), older)
	if err != nil {
		return err
	}
	if kind != "" {
		kept := []recovery.Item{}
		for _, i := range all.Items {
			if i.Kind == kind {
				kept = append(kept, i)
			}
		}
		all.Items = kept
	}
	return c.JSON(http.StatusOK, all)
}

// recover does one action of the table.
func (h controlHandlers) recover(c echo.Context) error {
	of, name := recovery.Kind(c.Param("of")), c.Param("action")
	role := access.Viewer // enough to be told that there is no such action
	action, known := recovery.Named(of, name)
	if known {
		role = action.Role
	}
	if err := h.let(c, role); err != nil {
		if !known || identifier("id", c.Param("id"), false) != nil {
			return err
		}
		return h.denied(c, of, name, err)
	}
	if !known {
		return noAction(of, name)
	}
	var r RecoveryRequest
	if err := read(c, &r); err != nil {
		return err
	}
	asked, err := h.asked(c, of, name, r)
	if err != nil {
		return err
	}
	return h.done(c, of, name, asked)
}

// asked checks a request and makes it a recovery.Request.
func (h controlHandlers) asked(c echo.Context, of recovery.Kind, name string, r RecoveryRequest) (asked recovery.Request, err error) {
	if err := firstOf(identifier("id", c.Param("id"), false), identifier("actor", r.Actor, true), text("reason", r.Reason, maxReason),
		text("evidence", r.Evidence, maxReason), checkVerdict(r.Verdict)); err != nil {
		return asked, err
	}
	asked = recovery.Request{
		ID: c.Param("id"), Reason: strings.TrimSpace(r.Reason), Absent: r.RuntimeVerifiedAbsent, Evidence: strings.TrimSpace(r.Evidence), Verdict: r.Verdict, DryRun: r.DryRun,
	}
	switch v := c.QueryParam("dry_run"); v {
	case "", "false":
	case "true":
		asked.DryRun = true
	default:
		return asked, bad("dry_run: %q is neither true nor false", v)
	}
	switch keys := c.Request().Header.Values(HeaderIdempotencyKey); {
	case len(keys) > 1:
		return asked, bad("%s: comes twice", HeaderIdempotencyKey)
	case len(keys) == 1:
		if err := identifier(HeaderIdempotencyKey, keys[0], false); err != nil {
			return asked, err
		}
		asked.Key = keys[0]
	}
	asked.By, err = actorOf(c, r.Actor)
	if err != nil {
		return asked, h.denied(c, of, name, err)
	}
	return asked, nil
}

// actorOf is who acts: the caller, where it is known. Where nobody is asked, the caller's own word is all
// there is.
func actorOf(c echo.Context, claimed string) (recovery.By, error) {
	p := access.Of(c.Request().Context())
	switch {
	case p.Open():
		return recovery.By{Actor: claimed, ActorType: actorAdmin, Via: p.Via}, nil
	case claimed != "" && claimed != p.Subject:
		return recovery.By{}, &access.Denial{Reason: access.ActorMismatch, Who: p, Detail: fmt.Sprintf("%s cannot act as %s", p.Subject, claimed)}
	}
	return recovery.By{Actor: p.Subject, ActorType: actorAdmin, Via: p.Via}, nil
}

func (h controlHandlers) done(c echo.Context, of recovery.Kind, name string, asked recovery.Request) error {
	answer, replayed, err := h.recovery.Do(c.Request().Context(), of, name, asked)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return invalid{http.StatusNotFound, fmt.Sprintf("there is no %s %s", of.One(), asked.ID)}
	case err != nil:
		return err
	}
	if replayed {
		c.Response().Header().Set(HeaderReplayed, "true")
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store") // an enrolment token may be in it
	return c.JSON(http.StatusOK, answer)
}

// repair gives a node back by hand. It is older than recovery, and stands for force-cleanup of what holds
// the node, or for unfence where nothing does.
func (h controlHandlers) repair(c echo.Context) error {
	var r RepairRequest
	if err := read(c, &r); err != nil {
		return err
	}
	if err := firstOf(identifier("node", c.Param("node"), false), identifier("actor", r.Actor, true), text("reason", r.Reason, maxReason),
		text("evidence", r.Evidence, maxReason)); err != nil {
		return err
	}
	by, err := actorOf(c, r.Actor)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	n, err := h.control.Node(ctx, c.Param("node"))
	if err != nil {
		return err
	}
	asked := recovery.Request{ID: n.ID, Reason: r.Reason, Absent: r.RuntimeVerifiedAbsent, Evidence: r.Evidence, By: by}
	of, action := recovery.Nodes, "unfence"
	if n.AllocationID != "" {
		of, action, asked.ID = recovery.Allocations, "force-cleanup", n.AllocationID
	}
	if _, _, err := h.recovery.Do(ctx, of, action, asked); err != nil {
		return err
	}
	if n, err = h.control.Node(ctx, n.ID); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, node(n))
}

// noAction names which there are.
func noAction(of recovery.Kind, name string) error {
	var all []string
	for _, a := range recovery.Actions() {
		if a.Of == of {
			all = append(all, a.Name)
		}
	}
	if len(all) == 0 {
		return invalid{http.StatusNotFound, fmt.Sprintf("nothing called %q is recovered; there are allocations, nodes and messages", of)}
	}
	return invalid{http.StatusNotFound, fmt.Sprintf("there is no action %q of %s; there are %s", name, of, strings.Join(all, ", "))}
}

func checkVerdict(v *recovery.Verdict) error {
	if v == nil {
		return nil
	}
	for _, f := range []struct{ name, value string }{
		{"id", v.ID}, {"outcome", v.Outcome}, {"layer", v.Layer}, {"mechanism", v.Mechanism}, {"owner", v.Owner}, {"summary", v.Summary},
		{"as_of", v.AsOf}, {"rules_version", v.RulesVersion}, {"absent", v.Absent}, {"source", v.Source},
	} {
		if err := text("verdict."+f.name, f.value, maxReason); err != nil {
			return err
		}
	}
	return nil
}
