package store

import (
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Outcomes of what somebody wanted to do by hand.
const (
	Done    = "done"
	Refused = "refused" // a guard said no
	Denied  = "denied"  // the caller may not, or is not who it says
)

// Audit is what somebody did by hand, or tried to.
type Audit struct {
	ID                   string // PutAudit makes it
	Actor, ActorType     string // actor type: user, admin, system, billing
	Via                  string // how the actor was known; empty: by the service in front
	Action               string
	AllocationID, NodeID string
	Subject              string // what was acted on, where it is neither of them
	Reason               string
	Before, After        string
	Evidence             string
	Verdict              string // JSON; empty: not asked for
	Outcome              string // empty: done
	Detail               string
	CorrelationID        string
	At                   time.Time
}

const auditColumns = `audit_id, actor, actor_type, via, action, allocation_id, node_id, subject, reason, before, after, evidence, verdict, outcome, detail, correlation_id, at`

// PutAudit appends to the audit log and gives the row's id. What was done is told as audit.action; an
// attempt that came to nothing is a line of the log only, for it explains nothing that happened.
func (t *Tx) PutAudit(a Audit) (string, error) {
	a.ID, a.At, a.CorrelationID = telemetry.NewID("au"), t.Now(), telemetry.ID(t.ctx, semconv.CorrelationID)
	if a.Outcome == "" {
		a.Outcome = Done
	}
	_, err := t.exec(`INSERT INTO audit (`+auditColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, a.ID, a.Actor, a.ActorType, a.Via, a.Action,
		a.AllocationID, a.NodeID, a.Subject, a.Reason, a.Before, a.After, a.Evidence, a.Verdict, a.Outcome, a.Detail, a.CorrelationID, nanos(a.At))
	if err != nil {
		return "", fmt.Errorf("insert audit row: %w", err)
	}
	t.sayAudit(a)
	return a.ID, nil
}

func (t *Tx) sayAudit(a Audit) {
	ctx := telemetry.With(t.ctx, semconv.AllocationID, a.AllocationID, semconv.NodeID, a.NodeID)
	attrs := []slog.Attr{
		slog.String(semconv.Actor, a.Actor), slog.String(semconv.ActorType, a.ActorType), slog.String(semconv.Action, a.Action),
		slog.String(semconv.Reason, a.Reason), slog.String(semconv.Before, a.Before), slog.String(semconv.After, a.After), slog.String("audit_id", a.ID),
	}
	for key, value := range map[string]string{"subject": a.Subject, "evidence_refs": a.Evidence, "verdict": a.Verdict, "detail": a.Detail} {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	if a.Evidence != "" { // evidence is only ever that nothing runs any more
		attrs = append(attrs, slog.Bool("runtime_verified_absent", true))
	}
	if a.Outcome == Done {
		t.event(ctx, a.At, semconv.EventAudit, attrs...)
		return
	}
	source := t.store.options.Emitter
	t.After(func() {
		source.Log(ctx, telemetry.Warn, fmt.Sprintf("%s by %s %s: %s", a.Action, a.Actor, a.Outcome, a.Detail), append(attrs, slog.String("outcome", a.Outcome))...)
	})
}

// AuditFilter chooses rows of the audit log; empty fields choose all.
type AuditFilter struct {
	AllocationID, NodeID, Actor, Action, Outcome string
	After                                        string // only those that follow this id in the list
	Limit                                        int
}

// AuditLog lists newest first; ErrNotFound where After names no row.
func (t *Tx) AuditLog(f AuditFilter) ([]Audit, error) {
	where, args := []string{"at >= 0"}, []any{}
	only := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	for _, c := range []struct{ condition, value string }{
		{"allocation_id = ?", f.AllocationID}, {"node_id = ?", f.NodeID}, {"actor = ?", f.Actor}, {"action = ?", f.Action}, {"outcome = ?", f.Outcome},
	} {
		if c.value != "" {
			only(c.condition, c.value)
		}
	}
	if f.After != "" {
		var at int64
		if err := t.row(`SELECT at FROM audit WHERE audit_id = ?`, f.After).Scan(&at); err != nil {
			return nil, wrapNotFound("audit row", f.After, err)
		}
		only("(at < ? OR at = ? AND audit_id < ?)", at, at, f.After)
	}
	var out []Audit
	err := t.rows(func(r *sql.Rows) error {
		var a Audit
		var at int64
		err := r.Scan(&a.ID, &a.Actor, &a.ActorType, &a.Via, &a.Action, &a.AllocationID, &a.NodeID, &a.Subject, &a.Reason, &a.Before, &a.After,
			&a.Evidence, &a.Verdict, &a.Outcome, &a.Detail, &a.CorrelationID, &at)
		a.At = timeOf(at)
		out = append(out, a)
		return err
	}, `SELECT `+auditColumns+` FROM audit WHERE `+strings.Join(where, " AND ")+` ORDER BY at DESC, audit_id DESC LIMIT ?`, append(args, f.Limit)...)
	return out, err
}
