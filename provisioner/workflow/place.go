package workflow

import (
	"fmt"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
)

// place sets a free node of the pool aside.
func place(r *run) (outcome, error) {
	now := r.tx.Now()
	n, err := r.tx.FreeNode(r.a.Pool)
	if store.IsNotFound(err) {
		if waited := now.Sub(r.w.CreatedAt); waited > r.engine.config.Placement {
			return outcome{kind: gaveUp, failure: fmt.Sprintf("no free node in pool %s", r.a.Pool)}, nil
		}
		return outcome{kind: waiting, on: "capacity", until: now.Add(r.engine.config.CapacityRetry)}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	if err := r.tx.Reserve(&n, r.a); err != nil {
		return outcome{}, err
	}
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Reserved, "", lifecycle.Facts{}))
}

func start(r *run) (outcome, error) {
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Provisioning, "", lifecycle.Facts{}))
}

// activate wants the last task's word that the tenant's system was seen running.
func activate(r *run) (outcome, error) {
	k, err := r.tx.TaskOfStep(r.w.ID, r.w.Step-1)
	if err != nil {
		return outcome{}, err
	}
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Active, "", lifecycle.Facts{
		TasksDone: k.State == semconv.Succeeded, Observed: k.Evidence == ObservedRunning,
	}))
}

// failProvision keeps the node out of use: cleanup is owed.
func failProvision(r *run, failure string) error {
	if err := r.clean("provisioning failed"); err != nil {
		return err
	}
	return r.tx.MoveAllocation(r.a, semconv.Failed, failure, lifecycle.Facts{})
}

// clean moves the allocation's node, if it has one, to cleanup.
func (r *run) clean(reason string) error {
	if r.a.NodeID == "" {
		return nil
	}
	n, err := r.tx.Node(r.a.NodeID)
	if err != nil {
		return err
	}
	if n.Occupancy != lifecycle.Reserved && n.Occupancy != lifecycle.Occupied {
		return nil
	}
	return r.tx.MoveNode(&n, lifecycle.Cleanup, reason, lifecycle.NodeFacts{})
}
