package workflow

import (
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// What an agent says it saw at the end of a task.
const (
	ObservedRunning = "running" // the tenant's system runs
	ObservedAbsent  = "absent"  // nothing of the tenant is left
)

// giveBack frees the node on the wipe's word that nothing is left, and ends the allocation.
func giveBack(to string) func(*run) (outcome, error) {
	return func(r *run) (outcome, error) {
		if r.a.NodeID != "" {
			k, err := r.tx.TaskOfStep(r.w.ID, r.w.Step-1)
			if err != nil {
				return outcome{}, err
			}
			proof := ""
			if k.State == semconv.Succeeded && k.Evidence == ObservedAbsent {
				proof = "task " + k.ID
			}
			n, err := r.tx.Node(r.a.NodeID)
			if err != nil {
				return outcome{}, err
			}
			if err := r.tx.MoveNode(&n, lifecycle.Free, "wiped", lifecycle.NodeFacts{Proof: proof}); err != nil {
				return orGiveUp(err)
			}
			r.a.NodeID = ""
		}
		return orGiveUp(r.tx.MoveAllocation(r.a, to, "", lifecycle.Facts{}))
	}
}

// stopWork ends the provision workflow and its tasks. An agent that is at work hears of it at its next
// renewal; what it reports after that does not count.
func stopWork(r *run) (outcome, error) {
	if r.a.State != semconv.Canceling {
		return outcome{}, nil
	}
	open, err := r.tx.OpenTasks(r.a.ID)
	if err != nil {
		return outcome{}, err
	}
	for _, k := range open {
		if err := r.tx.MoveTask(&k, semconv.Canceled, "workflow canceled"); err != nil {
			return outcome{}, err
		}
	}
	if err := r.stopProvision(); err != nil {
		return outcome{}, err
	}
	if err := r.clean("provisioning canceled"); err != nil {
		return outcome{}, err
	}
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Releasing, "", lifecycle.Facts{}))
}

// failRelease leaves the node in cleanup: nobody may have it until somebody proves that it is clean.
func failRelease(r *run, failure string) error {
	if r.a.State == semconv.Canceling {
		if err := r.tx.MoveAllocation(r.a, semconv.Releasing, "", lifecycle.Facts{}); err != nil {
			return err
		}
	}
	return r.tx.MoveAllocation(r.a, semconv.ReleaseFailed, failure, lifecycle.Facts{})
}
