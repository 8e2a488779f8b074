package control

import (
	"context"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Repair gives a node in cleanup back by hand: somebody has seen that nothing of its allocation is
// left, and says where that is written down. An allocation whose release had failed is released by it.
func (c *Control) Repair(ctx context.Context, node string, by Asker, evidence string) (n store.Node, err error) {
	err = c.store.Update(telemetry.With(ctx, semconv.NodeID, node), "repair node", func(t *store.Tx) error {
		if n, err = t.Node(node); err != nil {
			return err
		}
		switch {
		case by.Actor == "" || by.Reason == "":
			return lifecycle.Refuse(lifecycle.UnnamedActor, "node "+node, "a repair needs an actor and a reason")
		case evidence == "":
			return lifecycle.Refuse(lifecycle.EvidenceMissing, "node "+node, "where is it written that nothing is left?")
		}
		before, tenant := n, n.AllocationID
		var a store.Allocation
		if tenant != "" {
			if a, err = t.Allocation(tenant); err != nil {
				return err
			}
			if !lifecycle.Settled(a.State) {
				return lifecycle.Refuse(lifecycle.OperationInProgress, "node "+node, "allocation "+tenant+" is "+a.State)
			}
		}
		if _, err := t.PutAudit(store.Audit{
			Actor: by.Actor, ActorType: by.ActorType, Action: "force_cleanup", AllocationID: tenant, NodeID: node,
			Reason: by.Reason, Before: before.Occupancy, After: lifecycle.Free, Evidence: evidence,
		}); err != nil {
			return err
		}
		if err := t.MoveNode(&n, lifecycle.Free, by.Reason, lifecycle.NodeFacts{Proof: evidence, Actor: by.Actor}); err != nil {
			return err
		}
		if a.State != semconv.ReleaseFailed {
			return nil
		}
		a.NodeID = ""
		return t.MoveAllocation(&a, semconv.Released, by.Reason, lifecycle.Facts{Actor: by.Actor, Why: by.Reason, Absent: true, Evidence: evidence})
	})
	return n, err
}
