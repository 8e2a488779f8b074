package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Subjects of the messages that start workflows.
const (
	SubjectProvision = "provision.requested"
	SubjectRelease   = "release.requested"
	SubjectCancel    = "cancel.requested"
)

// Engine advances workflows. Where several work on one store, each works on those that it has leased.
type Engine struct {
	store   *store.Store
	config  Config
	emitter *telemetry.Emitter
	log     *slog.Logger
	driver  *driver

	polled atomic.Int64 // when the queue was last asked, in Unix nanoseconds
	busy   atomic.Int32 // workflows that are being advanced

	// For a lab that makes faults; nil: none. Set before Run.
	BeforeStep  func(ctx context.Context) // called before each step
	ExpireTasks func() bool               // tasks expire as soon as they are queued
}

// New makes an engine; emitter has its spans and log records.
func New(s *store.Store, c Config, emitter *telemetry.Emitter, log *slog.Logger) *Engine {
	e := &Engine{store: s, config: c, emitter: emitter, log: log}
	e.driver = newDriver(e)
	e.polled.Store(s.Now().UnixNano())
	return e
}

// Publish starts the workflow that a message asks for, once, or writes a view anew. Other subjects are for
// others. A payload that is no JSON object is refused, whosever it is: nothing else of such a message is believed.
func (e *Engine) Publish(ctx context.Context, m store.Message) error {
	var payload map[string]json.RawMessage
	if err := json.Unmarshal([]byte(m.Payload), &payload); err != nil {
		return fmt.Errorf("cannot unmarshal envelope: %s: %w", m.Subject, err)
	}
	if m.Subject == SubjectProjection {
		return e.reproject(ctx, m.AllocationID)
	}
	operation := map[string]string{
		SubjectProvision: lifecycle.OperationProvision,
		SubjectRelease:   lifecycle.OperationRelease,
		SubjectCancel:    lifecycle.OperationCancel,
	}[m.Subject]
	if operation == "" {
		return nil
	}
	return e.store.Update(ctx, "start workflow", func(t *store.Tx) error {
		_, err := t.StartWorkflow(store.Workflow{
			ID: telemetry.NewID("wf"), AllocationID: m.AllocationID, Operation: operation, OutboxID: m.ID,
			CorrelationID: telemetry.ID(ctx, semconv.CorrelationID), Baggage: telemetry.RemoteBaggage(ctx), Trace: telemetry.NewTrace(), Link: telemetry.SpanOf(ctx),
		})
		return err
	})
}

// workflowsAtOnce is the number of workflows of one look, and parallelWorkflows the number of those that are advanced
// at one time where the database lets several write.
const (
	workflowsAtOnce   = 256
	parallelWorkflows = 6
)

// Run works until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	var driving sync.WaitGroup
	defer driving.Wait()
	driving.Go(func() { e.driver.run(ctx) })
	tick := time.NewTicker(e.config.Tick)
	defer tick.Stop()
	sweep := true
	for {
		changed := e.store.Changed(store.Workflows)
		var swept error
		if sweep {
			swept = e.sweep(ctx)
		}
		more, err := e.round(ctx)
		if err := errors.Join(swept, err); err != nil && ctx.Err() == nil {
			e.log.Error("workflow round ended early", "error", err)
		} else if more && ctx.Err() == nil {
			sweep = false
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			sweep = false
		case <-tick.C: // what is overdue is so by the clock, not by a change
			sweep = true
		}
	}
}

// round advances the workflows whose time has come; more says that there may be others.
func (e *Engine) round(ctx context.Context) (more bool, err error) {
	e.polled.Store(e.store.Now().UnixNano())
	due, err := e.store.LeaseWorkflows(ctx, e.config.Lease, workflowsAtOnce)
	if err != nil {
		return false, err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(1)
	if e.store.Shared() {
		work.SetLimit(parallelWorkflows)
	}
	for _, w := range due {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error { return e.advanceOrLater(ctx, w) })
	}
	return len(due) == workflowsAtOnce, work.Wait()
}

// advanceOrLater has a workflow whose step went wrong looked at again after a while. The error is one of
// writing that.
func (e *Engine) advanceOrLater(ctx context.Context, w store.Workflow) error {
	err := e.advance(ctx, w)
	if err == nil || ctx.Err() != nil {
		return err
	}
	e.emitter.Log(w.Context(ctx), telemetry.Error, "workflow step: "+err.Error(), slog.String(semconv.Operation, w.Operation))
	e.log.Error("workflow step", "workflow_id", w.ID, "allocation_id", w.AllocationID, "error", err)
	return e.store.Update(ctx, "reschedule workflow", func(t *store.Tx) error {
		return t.Reschedule(w.ID, e.store.Now().Add(e.config.Tick))
	})
}

// advance runs steps of one workflow until it waits or ends.
func (e *Engine) advance(ctx context.Context, w store.Workflow) error {
	e.busy.Add(1)
	defer e.busy.Add(-1)
	for lifecycle.WorkflowOpen(w.State) {
		if e.BeforeStep != nil {
			e.BeforeStep(ctx)
		}
		waits, err := e.step(ctx, &w)
		if err != nil || waits {
			return err
		}
	}
	return nil
}

// step runs one step in one transaction, together with what follows from its outcome.
func (e *Engine) step(ctx context.Context, w *store.Workflow) (waits bool, err error) {
	op := operations()[w.Operation]
	if w.Step >= len(op.steps) {
		return false, fmt.Errorf("workflow %s: operation %q has no step %d", w.ID, w.Operation, w.Step)
	}
	s := op.steps[w.Step]
	ctx, span := e.emitter.Start(w.Context(ctx), "step "+s.name, telemetry.Internal, slog.String(semconv.Operation, w.Operation))
	defer span.End()
	next := *w
	err = e.store.Update(ctx, "step "+s.name, func(t *store.Tx) error {
		a, err := t.Allocation(w.AllocationID)
		if err != nil {
			return err
		}
		if next, err = t.Workflow(w.ID); err != nil {
			return err
		}
		if next.Step != w.Step || next.WakeAt.After(t.Now()) || !lifecycle.WorkflowOpen(next.State) { // another replica was here since it was read
			waits = true
			return nil
		}
		r := &run{ctx: ctx, engine: e, tx: t, w: &next, a: &a}
		if !op.wanted[a.State] { // somebody else has decided
			return r.stop()
		}
		if next.State == semconv.Scheduled {
			if err := t.MoveWorkflow(&next, semconv.Running); err != nil {
				return err
			}
		}
		out, err := s.do(r)
		if err != nil {
			return err
		}
		waits = out.kind == waiting
		return r.apply(op, out)
	})
	if err != nil {
		span.Fail(err, "step")
		return false, err
	}
	if next.State == semconv.Failed {
		span.Fail(errors.New(next.Failure), "gave_up")
		e.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("%s of %s gave up: %s", w.Operation, w.AllocationID, next.Failure))
	}
	*w = next
	return waits, nil
}
