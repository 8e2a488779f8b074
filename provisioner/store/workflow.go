package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Workflow is one run of one operation of an allocation.
type Workflow struct {
	ID, AllocationID, Operation string
	State                       string
	Step                        int // index into the operation's steps
	WaitingOn, Failure          string
	CorrelationID               string
	Trace, Link                 telemetry.SpanContext // its own root span; what asked for it
	OutboxID                    string
	Baggage                     string // the caller's, as far as it is not ours
	WakeAt, CreatedAt           time.Time
	MovedAt                     time.Time // when it came to where it is; another look at what it waits for does not count
}

const workflowColumns = `workflow_id, allocation_id, operation, state, step, waiting_on, failure, correlation_id, trace, link, outbox_id, baggage, wake_at, created_at, moved_at`

// Polled queries. Their condition is that of index workflows_open, word for word.
const (
	runnableWorkflows = `SELECT ` + workflowColumns + ` FROM workflows
		WHERE state IN ('scheduled', 'running', 'waiting', 'cancel_requested') AND wake_at <= ? ORDER BY created_at LIMIT ?`
	leaseWorkflows = `WITH due (id) AS MATERIALIZED (SELECT workflow_id FROM workflows
			WHERE state IN ('scheduled', 'running', 'waiting', 'cancel_requested') AND wake_at <= ?1 AND leased_until <= ?1
			ORDER BY created_at LIMIT ?2 FOR NO KEY UPDATE SKIP LOCKED)
		UPDATE workflows SET leased_until = ?3 WHERE workflow_id = ANY (ARRAY (SELECT id FROM due)) RETURNING ` + workflowColumns
)

func scanWorkflow(scan func(...any) error) (Workflow, error) {
	var w Workflow
	var trace, link string
	var wake, created, moved int64
	err := scan(&w.ID, &w.AllocationID, &w.Operation, &w.State, &w.Step, &w.WaitingOn, &w.Failure, &w.CorrelationID, &trace, &link,
		&w.OutboxID, &w.Baggage, &wake, &created, &moved)
	w.Trace, w.Link = telemetry.ParseTraceparent(trace), telemetry.ParseTraceparent(link)
	w.WakeAt, w.CreatedAt, w.MovedAt = timeOf(wake), timeOf(created), timeOf(moved)
	return w, err
}

// Context is the workflow's own context: its identifiers, its root span.
func (w Workflow) Context(ctx context.Context) context.Context {
	ctx = telemetry.With(ctx, semconv.AllocationID, w.AllocationID, semconv.WorkflowID, w.ID, semconv.CorrelationID, w.CorrelationID)
	return telemetry.WithSpan(telemetry.WithRemoteBaggage(ctx, w.Baggage), w.Trace)
}

// StartWorkflow writes a scheduled workflow. A message that has started one already starts none.
func (t *Tx) StartWorkflow(w Workflow) (started bool, err error) {
	w.State, w.CreatedAt = semconv.Scheduled, t.Now()
	n, err := t.exec(`INSERT INTO workflows (workflow_id, allocation_id, operation, state, correlation_id, trace, link, outbox_id, baggage, created_at, moved_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (outbox_id) DO NOTHING`,
		w.ID, w.AllocationID, w.Operation, w.State, w.CorrelationID, w.Trace.String(), w.Link.String(), w.OutboxID, w.Baggage, nanos(w.CreatedAt), nanos(w.CreatedAt))
	if err != nil {
		return false, fmt.Errorf("insert workflow: %w", err)
	}
	if n == 0 {
		return false, nil
	}
	t.sayWorkflow(w)
	t.touch(Workflows)
	return true, nil
}

// Workflow reads one; ErrNotFound where there is none.
func (t *Tx) Workflow(id string) (Workflow, error) {
	w, err := scanWorkflow(t.row(`SELECT `+workflowColumns+` FROM workflows WHERE workflow_id = ?`, id).Scan)
	return w, wrapNotFound("workflow", id, err)
}

// OpenWorkflow is the allocation's workflow of that operation that still has steps to do; ErrNotFound
// where there is none.
func (t *Tx) OpenWorkflow(allocation, operation string) (Workflow, error) {
	w, err := scanWorkflow(t.row(`SELECT `+workflowColumns+` FROM workflows WHERE allocation_id = ? AND operation = ?
		AND state IN ('scheduled', 'running', 'waiting', 'cancel_requested')`, allocation, operation).Scan)
	return w, wrapNotFound("open workflow of", allocation, err)
}

// Workflows lists those of an allocation, oldest first.
func (t *Tx) Workflows(allocation string) ([]Workflow, error) {
	return t.workflows(`SELECT `+workflowColumns+` FROM workflows WHERE allocation_id = ? ORDER BY created_at`, allocation)
}

// LeaseWorkflows lists some of those whose time has come, oldest first, and keeps other replicas away from
// them for as long as the lease lasts.
func (s *Store) LeaseWorkflows(ctx context.Context, lease time.Duration, limit int) (out []Workflow, err error) {
	if !s.dialect.shared {
		err = s.View(ctx, "runnable workflows", func(t *Tx) error {
			out, err = t.workflows(runnableWorkflows, nanos(t.Now()), limit)
			return err
		})
		return out, err
	}
	err = s.Update(ctx, "lease workflows", func(t *Tx) error {
		out, err = t.workflows(leaseWorkflows, nanos(t.Now()), limit, nanos(t.Now().Add(lease)))
		return err
	})
	slices.SortFunc(out, func(a, b Workflow) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return out, err
}

func (t *Tx) workflows(query string, args ...any) ([]Workflow, error) {
	var out []Workflow
	err := t.rows(func(r *sql.Rows) error {
		w, err := scanWorkflow(r.Scan)
		out = append(out, w)
		return err
	}, query, args...)
	return out, err
}

// MoveWorkflow changes the state if the domain allows it; a repeat writes the row without an event.
// The other fields are written as they are in w. One that waits or is over is leased no longer.
func (t *Tx) MoveWorkflow(w *Workflow, to string) error {
	if w.State != to {
		if err := lifecycle.MoveWorkflow(w.ID, w.State, to); err != nil {
			return t.refuse(w.Context(t.ctx), err)
		}
	}
	n, err := t.exec(`UPDATE workflows SET state = ?1, step = ?2, waiting_on = ?3, failure = ?4, wake_at = ?5, leased_until = CASE WHEN ?6 = 1 THEN leased_until ELSE 0 END,
		moved_at = CASE WHEN step = ?2 AND state = ?1 AND waiting_on = ?3 THEN moved_at ELSE ?7 END
		WHERE workflow_id = ?8 AND state = ?9`, to, w.Step, w.WaitingOn, w.Failure, nanos(w.WakeAt), to == semconv.Running, nanos(t.Now()), w.ID, w.State)
	if err != nil {
		return fmt.Errorf("update workflow: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("update workflow %s: state is no longer %s", w.ID, w.State)
	}
	if w.State == to {
		return nil
	}
	w.State = to
	t.sayWorkflow(*w)
	if lifecycle.WorkflowOpen(to) {
		return nil
	}
	t.touch(Workflows) // another one may have waited for this one's end
	done, end, source, failure := *w, t.Now(), t.store.options.Emitter, ""
	if to == semconv.Failed {
		failure = w.Failure
	}
	ctx := done.Context(context.Background())
	t.record(source.ComposeSpan(ctx, "workflow "+done.Operation, done.Trace, telemetry.SpanContext{}, done.Link, done.CreatedAt, end, failure,
		slog.String(semconv.Operation, done.Operation), slog.String(semconv.To, to)))
	return nil
}

// Reschedule writes when the workflow is looked at again, by whichever replica, whatever its state.
func (t *Tx) Reschedule(id string, at time.Time) error {
	t.touch(Workflows)
	_, err := t.exec(`UPDATE workflows SET wake_at = ?, leased_until = 0 WHERE workflow_id = ?`, nanos(at), id)
	return err
}

func (t *Tx) sayWorkflow(w Workflow) {
	ctx := w.Context(t.ctx)
	attrs := []slog.Attr{slog.String(semconv.Operation, w.Operation), slog.String(semconv.To, w.State)}
	if w.WaitingOn != "" && w.State == semconv.Waiting {
		attrs = append(attrs, slog.String(semconv.WaitingOn, w.WaitingOn))
	}
	if w.Failure != "" && w.State == semconv.Failed {
		attrs = append(attrs, slog.String(semconv.Reason, w.Failure))
	}
	t.event(ctx, t.Now(), semconv.EventWorkflowState, attrs...)
}

// IsNotFound reports whether err is that of a missing row.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }
