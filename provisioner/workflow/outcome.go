package workflow

import (
	"context"
	"errors"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
)

type outcomeKind uint8

const (
	next    outcomeKind = iota // this step is done
	waiting                    // look again at a time, or when something wakes the workflow
	gaveUp                     // there is no way on
)

// outcome is what a step says.
type outcome struct {
	kind    outcomeKind
	on      string    // what is awaited: task, timer, capacity
	until   time.Time // when to look again without being woken
	failure string    // why there is no way on
}

// far is the time at which a workflow that something will wake looks again by itself.
const far = time.Hour

// run is one step at work.
type run struct {
	ctx    context.Context
	engine *Engine
	tx     *store.Tx
	w      *store.Workflow
	a      *store.Allocation
}

// apply writes what follows from an outcome.
func (r *run) apply(op operation, out outcome) error {
	switch out.kind {
	case waiting:
		r.w.WaitingOn, r.w.WakeAt = out.on, out.until
		return r.tx.MoveWorkflow(r.w, semconv.Waiting)
	case gaveUp:
		if err := r.running(); err != nil {
			return err
		}
		if err := op.giveUp(r, out.failure); err != nil {
			return err
		}
		r.w.Failure = out.failure
		return r.tx.MoveWorkflow(r.w, semconv.Failed)
	}
	if err := r.running(); err != nil {
		return err
	}
	if r.w.Step++; r.w.Step == len(op.steps) {
		return r.tx.MoveWorkflow(r.w, semconv.Completed)
	}
	return r.tx.MoveWorkflow(r.w, semconv.Running)
}

// running takes a workflow that waited back to work.
func (r *run) running() error {
	r.w.WaitingOn, r.w.WakeAt = "", time.Time{}
	if r.w.State == semconv.Waiting {
		return r.tx.MoveWorkflow(r.w, semconv.Running)
	}
	return nil
}

// stop ends a workflow that is no longer wanted.
func (r *run) stop() error {
	if r.w.State != semconv.CancelRequested {
		if err := r.tx.MoveWorkflow(r.w, semconv.CancelRequested); err != nil {
			return err
		}
	}
	return r.tx.MoveWorkflow(r.w, semconv.Canceled)
}

// stopProvision ends the allocation's provision, where one is open.
func (r *run) stopProvision() error {
	w, err := r.tx.OpenWorkflow(r.a.ID, lifecycle.OperationProvision)
	if store.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	provision := &run{ctx: r.ctx, engine: r.engine, tx: r.tx, w: &w, a: r.a}
	return provision.stop()
}

// orGiveUp turns a refusal of the domain into an outcome: another try would be refused too.
func orGiveUp(err error) (outcome, error) {
	var refused *lifecycle.Refusal
	if errors.As(err, &refused) {
		return outcome{kind: gaveUp, failure: refused.Error()}, nil
	}
	return outcome{}, err
}
