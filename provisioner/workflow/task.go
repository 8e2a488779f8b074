package workflow

import (
	"context"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Reasons of expired and lost tasks. They state what was seen; whose fault it is, others must find out.
const (
	notClaimed = "not claimed before expires_at"
	noResult   = "lease ended without a result"
)

// task makes a step that has the allocation's node do something, and waits for it. Without a node there
// is nothing to do.
func task(kind string) func(*run) (outcome, error) {
	return func(r *run) (outcome, error) {
		if r.a.NodeID == "" {
			return outcome{}, nil
		}
		now, c := r.tx.Now(), r.engine.config
		await := outcome{kind: waiting, on: "task", until: now.Add(far)}
		k, err := r.tx.TaskOfStep(r.w.ID, r.w.Step)
		switch {
		case store.IsNotFound(err):
			return await, r.queue(kind, 1)
		case err != nil:
			return outcome{}, err
		case lifecycle.TaskOpen(k.State):
			return await, nil
		case k.State == semconv.Succeeded:
			return outcome{}, nil
		case k.Attempt >= c.Attempts:
			return outcome{kind: gaveUp, failure: fmt.Sprintf("task %s %s after %d attempts: %s", kind, k.State, k.Attempt, k.Message)}, nil
		case k.State == semconv.Failed && r.w.WaitingOn != "timer":
			return outcome{kind: waiting, on: "timer", until: now.Add(c.RetryWait)}, nil
		}
		return await, r.queue(kind, k.Attempt+1)
	}
}

func (r *run) queue(kind string, attempt int) error {
	patience := r.engine.config.ClaimTimeout
	if r.engine.ExpireTasks != nil && r.engine.ExpireTasks() {
		patience = time.Millisecond
	}
	return r.tx.QueueTask(store.Task{
		ID: telemetry.NewID("t"), WorkflowID: r.w.ID, AllocationID: r.a.ID, NodeID: r.a.NodeID, Type: kind,
		Step: r.w.Step, Attempt: attempt, ExpiresAt: r.tx.Now().Add(patience),
		CorrelationID: r.w.CorrelationID, Trace: r.w.Trace.Child(), Parent: r.w.Trace,
	})
}

// sweep ends the wait for tasks that nobody claimed and for claims that nobody renews.
func (e *Engine) sweep(ctx context.Context) error {
	var overdue []store.Task
	if err := e.store.View(ctx, "overdue tasks", func(t *store.Tx) (err error) {
		overdue, err = t.OverdueTasks()
		return err
	}); err != nil {
		return err
	}
	for _, k := range overdue {
		if err := e.store.Update(k.Context(ctx), "sweep task", func(t *store.Tx) error { return e.overdue(t, k.ID) }); err != nil {
			return err
		}
	}
	return nil
}

// overdue looks at the task once more inside the transaction: it may have been claimed or renewed.
func (e *Engine) overdue(t *store.Tx, id string) error {
	k, err := t.Task(id)
	if err != nil {
		return err
	}
	now := t.Now()
	switch {
	case k.State == semconv.Queued && !k.ExpiresAt.After(now):
		k.Message = notClaimed
		return t.MoveTask(&k, semconv.Expired, notClaimed)
	case (k.State == semconv.Dispatched || k.State == semconv.Running) && !k.Claim.LeaseUntil.After(now):
		if err := t.MoveTask(&k, semconv.Lost, noResult); err != nil {
			return err
		}
		if k.Claim.Fence >= int64(e.config.Claims) {
			k.Code, k.Message = "lost", noResult
			return t.MoveTask(&k, semconv.Failed, fmt.Sprintf("lost %d times", k.Claim.Fence))
		}
		k.ExpiresAt = now.Add(e.config.ClaimTimeout)
		return t.MoveTask(&k, semconv.Queued, "offered again")
	}
	return nil
}
