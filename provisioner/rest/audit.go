package rest

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/provisioner/store"
)

// audit lists who did what by hand, and what was refused, newest first.
func (h controlHandlers) audit(c echo.Context) error {
	f := store.AuditFilter{
		AllocationID: c.QueryParam("allocation_id"), NodeID: c.QueryParam("node_id"), Actor: c.QueryParam("actor"), Action: c.QueryParam("action"),
		Outcome: c.QueryParam("outcome"), After: c.QueryParam("after"), Limit: 100,
	}
	if err := firstOf(identifier("allocation_id", f.AllocationID, true), identifier("node_id", f.NodeID, true), identifier("actor", f.Actor, true),
		identifier("action", f.Action, true), identifier("outcome", f.Outcome, true), identifier("after", f.After, true), limit(c, &f.Limit)); err != nil {
		return err
	}
	rows, err := h.control.Audit(c.Request().Context(), f)
	switch {
	case store.IsNotFound(err):
		return bad("after: there is no audit row %s", f.After)
	case err != nil:
		return err
	}
	out := AuditLog{Entries: []AuditEntry{}}
	for _, a := range rows {
		out.Entries = append(out.Entries, auditEntry(a))
	}
	if len(rows) == f.Limit {
		out.Next = rows[len(rows)-1].ID
	}
	return c.JSON(http.StatusOK, out)
}

func auditEntry(a store.Audit) AuditEntry {
	out := AuditEntry{
		AuditID: a.ID, At: a.At, Actor: a.Actor, ActorType: a.ActorType, Via: a.Via, Action: a.Action, Outcome: a.Outcome, AllocationID: a.AllocationID,
		NodeID: a.NodeID, Subject: a.Subject, Reason: a.Reason, Before: a.Before, After: a.After, Evidence: a.Evidence, Detail: a.Detail, CorrelationID: a.CorrelationID,
	}
	if a.Verdict != "" {
		out.Verdict = json.RawMessage(a.Verdict)
	}
	return out
}
