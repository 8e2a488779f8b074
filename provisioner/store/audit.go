package store

import (
	"fmt"
	"log/slog"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Audit is what somebody did by hand.
type Audit struct {
	Actor, ActorType     string // actor type: user, admin, system, billing
	Action               string
	AllocationID, NodeID string
	Reason               string
	Before, After        string
	Evidence             string
}

// PutAudit appends to the audit log.
func (t *Tx) PutAudit(a Audit) error {
	now := t.Now()
	_, err := t.exec(`INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, telemetry.NewID("au"), a.Actor, a.ActorType, a.Action,
		a.AllocationID, a.NodeID, a.Reason, a.Before, a.After, a.Evidence, telemetry.ID(t.ctx, semconv.CorrelationID), nanos(now))
	if err != nil {
		return fmt.Errorf("insert audit row: %w", err)
	}
	t.say(telemetry.With(t.ctx, semconv.AllocationID, a.AllocationID, semconv.NodeID, a.NodeID), now, semconv.EventAudit,
		slog.String(semconv.Actor, a.Actor), slog.String(semconv.ActorType, a.ActorType), slog.String(semconv.Action, a.Action),
		slog.String(semconv.Reason, a.Reason), slog.String(semconv.Before, a.Before), slog.String(semconv.After, a.After))
	return nil
}
