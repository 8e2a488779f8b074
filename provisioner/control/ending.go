package control

import (
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Cancel stops an allocation within a transaction.
func Cancel(t *store.Tx, a *store.Allocation, by Asker) error {
	switch a.State {
	case semconv.Canceling, semconv.Canceled:
		return nil
	case semconv.Provisioning:
		if err := t.MoveAllocation(a, semconv.Canceling, by.Reason, lifecycle.Facts{Actor: by.Actor}); err != nil {
			return err
		}
		_, err := t.PutOutbox(workflow.SubjectCancel, a.ID, "{}")
		return err
	}
	if a.NodeID != "" && a.State == semconv.Reserved {
		n, err := t.Node(a.NodeID)
		if err != nil {
			return err
		}
		if n.Occupancy == lifecycle.Fenced {
			return lifecycle.Refuse(lifecycle.NodeFenced, "allocation "+a.ID, "node "+n.ID+" is fenced")
		}
		if err := t.MoveNode(&n, lifecycle.Free, "canceled before any work", lifecycle.NodeFacts{Untouched: !a.Claimed}); err != nil {
			return err
		}
		a.NodeID = ""
	}
	return t.MoveAllocation(a, semconv.Canceled, by.Reason, lifecycle.Facts{Actor: by.Actor})
}

// Release has an allocation released within a transaction. A fence is not the tenant's to lift: a node
// that an operator has fenced stays so, whatever becomes of its allocation.
func Release(t *store.Tx, a *store.Allocation, by Asker) error {
	if a.State == semconv.Releasing || a.State == semconv.Released {
		return nil
	}
	if a.NodeID != "" {
		n, err := t.Node(a.NodeID)
		if err != nil {
			return err
		}
		switch {
		case n.Occupancy == lifecycle.Fenced && a.State == semconv.ReleaseFailed:
			return lifecycle.Refuse(lifecycle.NodeFenced, "allocation "+a.ID, "node "+n.ID+" is fenced")
		case n.Occupancy != lifecycle.Cleanup && n.Occupancy != lifecycle.Fenced:
			if err := t.MoveNode(&n, lifecycle.Cleanup, "release", lifecycle.NodeFacts{Actor: by.Actor}); err != nil {
				return err
			}
		}
	}
	return Restart(t, a, by)
}

// Restart moves an allocation to releasing, with the message that starts the workflow.
func Restart(t *store.Tx, a *store.Allocation, by Asker) error {
	if err := t.MoveAllocation(a, semconv.Releasing, by.Reason, lifecycle.Facts{Actor: by.Actor, Why: by.Reason}); err != nil {
		return err
	}
	_, err := t.PutOutbox(workflow.SubjectRelease, a.ID, "{}")
	return err
}
