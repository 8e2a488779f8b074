package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Task is one attempt at one piece of work on a node. It may be claimed several times.
type Task struct {
	ID, WorkflowID, AllocationID, NodeID string
	Type                                 string
	Step, Attempt                        int
	State                                string
	Claim                                lifecycle.Claim
	ExpiresAt                            time.Time // unclaimed until then
	Code, Message, Evidence              string    // the result's
	CorrelationID                        string
	Trace, Parent                        telemetry.SpanContext
	CreatedAt                            time.Time
}

const taskColumns = `task_id, workflow_id, allocation_id, node_id, type, step, attempt, state, claim_id, fence, instance_id, lease_until, expires_at, code, message, evidence, correlation_id, trace, parent, created_at`

// Polled queries. They repeat the condition of index tasks_open word for word: SQLite wants that before
// it uses a partial index.
const (
	nextTask = `SELECT ` + taskColumns + ` FROM tasks INDEXED BY tasks_open
		WHERE node_id = ? AND state IN ('queued', 'dispatched', 'running') AND state = 'queued' AND expires_at > ? ORDER BY created_at LIMIT 1`
	overdueTasks = `SELECT ` + taskColumns + ` FROM tasks
		WHERE state IN ('queued', 'dispatched', 'running') AND CASE state WHEN 'queued' THEN expires_at ELSE lease_until END <= ? ORDER BY created_at`
)

func scanTask(scan func(...any) error) (Task, error) {
	var k Task
	var trace, parent string
	var lease, expires, created int64
	err := scan(&k.ID, &k.WorkflowID, &k.AllocationID, &k.NodeID, &k.Type, &k.Step, &k.Attempt, &k.State, &k.Claim.ID, &k.Claim.Fence,
		&k.Claim.InstanceID, &lease, &expires, &k.Code, &k.Message, &k.Evidence, &k.CorrelationID, &trace, &parent, &created)
	k.Trace, k.Parent = telemetry.ParseTraceparent(trace), telemetry.ParseTraceparent(parent)
	k.Claim.LeaseUntil, k.ExpiresAt, k.CreatedAt = timeOf(lease), timeOf(expires), timeOf(created)
	return k, err
}

// Context is the task's own context: its identifiers, its span.
func (k Task) Context(ctx context.Context) context.Context {
	ctx = telemetry.With(ctx, semconv.AllocationID, k.AllocationID, semconv.WorkflowID, k.WorkflowID, semconv.CorrelationID, k.CorrelationID,
		semconv.TaskID, k.ID, semconv.NodeID, k.NodeID, semconv.NodeInstanceID, k.Claim.InstanceID, semconv.ClaimID, k.Claim.ID)
	return telemetry.WithSpan(ctx, k.Trace)
}

// QueueTask writes a new task in state queued.
func (t *Tx) QueueTask(k Task) error {
	k.State, k.CreatedAt = semconv.Queued, t.Now()
	_, err := t.exec(`INSERT INTO tasks (task_id, workflow_id, allocation_id, node_id, type, step, attempt, state, expires_at, correlation_id, trace, parent, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, k.ID, k.WorkflowID, k.AllocationID, k.NodeID, k.Type, k.Step, k.Attempt, k.State,
		nanos(k.ExpiresAt), k.CorrelationID, k.Trace.String(), k.Parent.String(), nanos(k.CreatedAt))
	if err != nil {
		return fmt.Errorf("insert task: %w", err)
	}
	t.sayTask(k, k.State, "", slog.Int("attempt", k.Attempt), slog.Time("expires_at", k.ExpiresAt))
	t.touchTask(k.NodeID)
	return nil
}

// Task reads one; ErrNotFound where there is none. In an Update its allocation is locked.
func (t *Tx) Task(id string) (Task, error) {
	if t.locking() {
		var allocation string
		if err := t.row(`SELECT allocation_id FROM tasks WHERE task_id = ?`, id).Scan(&allocation); err != nil {
			return Task{}, wrapNotFound("task", id, err)
		}
		if err := t.Lock(allocation); err != nil {
			return Task{}, err
		}
	}
	k, err := scanTask(t.row(`SELECT `+taskColumns+` FROM tasks WHERE task_id = ?`, id).Scan)
	return k, wrapNotFound("task", id, err)
}

// TaskOfStep is the newest attempt of a workflow's step; ErrNotFound where there is none yet.
func (t *Tx) TaskOfStep(workflow string, step int) (Task, error) {
	k, err := scanTask(t.row(`SELECT `+taskColumns+` FROM tasks WHERE workflow_id = ? AND step = ? ORDER BY attempt DESC LIMIT 1`, workflow, step).Scan)
	return k, wrapNotFound("task of workflow", workflow, err)
}

// NextTask is the oldest task that the node may claim; ErrNotFound where there is none.
func (t *Tx) NextTask(node string) (Task, error) {
	k, err := scanTask(t.row(nextTask, node, nanos(t.Now())).Scan)
	return k, wrapNotFound("queued task of node", node, err)
}

// OverdueTasks lists tasks that nobody claimed in time, and those whose lease has ended.
func (t *Tx) OverdueTasks() ([]Task, error) {
	return t.tasks(overdueTasks, nanos(t.Now()))
}

// OpenTasks lists the tasks of an allocation that may still change.
func (t *Tx) OpenTasks(allocation string) ([]Task, error) {
	return t.tasks(`SELECT `+taskColumns+` FROM tasks WHERE allocation_id = ? AND state IN ('queued', 'dispatched', 'running') ORDER BY created_at`, allocation)
}

func (t *Tx) tasks(query string, args ...any) ([]Task, error) {
	var out []Task
	err := t.rows(func(r *sql.Rows) error {
		k, err := scanTask(r.Scan)
		out = append(out, k)
		return err
	}, query, args...)
	return out, err
}

// MoveTask changes the state if the domain allows it; claim, deadline and result are written as they
// are in k. The end of a task wakes its workflow.
func (t *Tx) MoveTask(k *Task, to, reason string) error {
	facts := lifecycle.TaskFacts{Claim: k.Claim, ExpiresAt: k.ExpiresAt, Now: t.Now()}
	if err := lifecycle.MoveTask(k.ID, k.State, to, facts); err != nil {
		return t.refuse(k.Context(t.ctx), err)
	}
	n, err := t.exec(`UPDATE tasks SET state = ?, claim_id = ?, fence = ?, instance_id = ?, lease_until = ?, expires_at = ?, code = ?, message = ?, evidence = ?
		WHERE task_id = ? AND state = ?`, to, k.Claim.ID, k.Claim.Fence, k.Claim.InstanceID, nanos(k.Claim.LeaseUntil), nanos(k.ExpiresAt),
		k.Code, k.Message, k.Evidence, k.ID, k.State)
	if err != nil {
		return fmt.Errorf("update task: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("update task %s: state is no longer %s", k.ID, k.State)
	}
	k.State = to
	t.sayTask(*k, to, reason)
	switch {
	case to == semconv.Dispatched:
		if err := t.markClaimed(k.AllocationID); err != nil {
			return err
		}
	case to == semconv.Queued:
		t.touchTask(k.NodeID)
	case !lifecycle.TaskOpen(to):
		done, end, source, failure := *k, t.Now(), t.store.options.Emitter, ""
		if to == semconv.Failed || to == semconv.Expired {
			failure = to + ": " + reason
		}
		t.record(source.ComposeSpan(done.Context(context.Background()), "task "+done.Type, done.Trace, done.Parent, telemetry.SpanContext{}, done.CreatedAt, end, failure,
			slog.String(semconv.TaskType, done.Type), slog.String(semconv.To, to), slog.Int("attempt", done.Attempt)))
		return t.Reschedule(k.WorkflowID, time.Time{})
	}
	return nil
}

// RenewTask writes a new lease, with an event: who judges by a lease that was prolonged in silence would take the
// agent for late.
func (t *Tx) RenewTask(k *Task, until time.Time) error {
	k.Claim.LeaseUntil = until
	if k.State == semconv.Dispatched {
		return t.MoveTask(k, semconv.Running, "")
	}
	if _, err := t.exec(`UPDATE tasks SET lease_until = ? WHERE task_id = ?`, nanos(until), k.ID); err != nil {
		return err
	}
	t.sayTask(*k, semconv.Running, "")
	return nil
}

// RejectReport emits that a report on a task did not count. The task's row stays as it is.
func (t *Tx) RejectReport(k Task, presented lifecycle.Claim, reason lifecycle.Reason) {
	k.Claim.ID, k.Claim.InstanceID, k.Claim.Fence = presented.ID, presented.InstanceID, presented.Fence
	t.sayTask(k, semconv.Rejected, string(reason))
}

func (t *Tx) sayTask(k Task, to, reason string, more ...slog.Attr) {
	attrs := append([]slog.Attr{slog.String(semconv.TaskType, k.Type), slog.String(semconv.To, to)}, more...)
	if k.Claim.Fence > 0 {
		attrs = append(attrs, slog.Int64(semconv.Fence, k.Claim.Fence))
	}
	if !k.Claim.LeaseUntil.IsZero() && (to == semconv.Dispatched || to == semconv.Running || to == semconv.Lost) {
		attrs = append(attrs, slog.Time(semconv.LeaseUntil, k.Claim.LeaseUntil))
	}
	if reason != "" {
		attrs = append(attrs, slog.String(semconv.Reason, reason))
	}
	t.event(k.Context(t.ctx), t.Now(), semconv.EventTaskState, attrs...)
}
