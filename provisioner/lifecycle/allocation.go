package lifecycle

import (
	"slices"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Facts are what is known when an allocation is about to move; guards look at nothing else.
type Facts struct {
	Occupancy  string // of the allocation's node; "" without a node
	Provided   bool   // a provider with capacity of its own serves it: there is no node to set aside
	Claimed    bool   // some task was ever claimed for it
	WasActive  bool   // it was active at some time
	TasksDone  bool   // every task of the operation succeeded
	Observed   bool   // the resource was seen in the state it is to be in
	Actor      string // who asked
	Why        string // what the actor gave as the reason
	Absent     bool   // somebody vouches that nothing of it runs any more
	Evidence   string // reference that proves Absent
	Incomplete string // what is still missing, for the refusal's text
}

// AllocationMove is one line of the table.
type AllocationMove = Move[Facts]

// allocationMoves is the whole state machine. "" is the state before the allocation exists. The pairs are
// those of semconv.AllocationMoves, which is what readers of telemetry check against.
var allocationMoves = []AllocationMove{
	{"", semconv.Requested, "create accepted", nil}, // with its outbox row, in one transaction
	{semconv.Requested, semconv.Reserved, "placement", capacitySetAside},
	{semconv.Requested, semconv.Canceled, "cancel before any work", workNotBegun},
	{semconv.Requested, semconv.Failed, "no placement before the deadline", nil},
	{semconv.Reserved, semconv.Provisioning, "workflow started", capacitySetAside},
	{semconv.Reserved, semconv.Canceled, "cancel before any work", workNotBegun},
	{semconv.Reserved, semconv.Failed, "gave up", nodeInCleanup},
	{semconv.Provisioning, semconv.Active, "readiness proof", ready},
	{semconv.Provisioning, semconv.Failed, "gave up", nodeInCleanup}, // cleanup is owed from here on
	{semconv.Provisioning, semconv.Canceling, "cancel during provisioning", nil},
	{semconv.Canceling, semconv.Releasing, "work stopped", nil},
	{semconv.Canceling, semconv.Canceled, "work stopped, nothing to clean", neverActiveAndClean},
	{semconv.Active, semconv.Degraded, "health", nil},
	{semconv.Active, semconv.Releasing, "release", named},
	{semconv.Degraded, semconv.Active, "health", nil},
	{semconv.Degraded, semconv.Releasing, "release", named},
	{semconv.Failed, semconv.Releasing, "release", named},
	{semconv.Releasing, semconv.Released, "cleanup proof", clean},
	{semconv.Releasing, semconv.Canceled, "cleanup proof of a cancel", neverActiveAndClean},
	{semconv.Releasing, semconv.ReleaseFailed, "retries exhausted", nodeInCleanup},
	{semconv.ReleaseFailed, semconv.Releasing, "retry or forced release", namedWithReason},
	{semconv.ReleaseFailed, semconv.Released, "forced cleanup", verifiedAbsent},
}

// AllocationMoves is a copy of the table.
func AllocationMoves() []AllocationMove { return slices.Clone(allocationMoves) }

// MoveAllocation reports whether the allocation id may go from one state to another, nil if it may.
func MoveAllocation(id, from, to string, f Facts) error {
	return decide(allocationMoves, OfAllocation, id, from, to, f, f.Incomplete)
}

// Terminal reports whether nothing follows.
func Terminal(state string) bool { return state == semconv.Released || state == semconv.Canceled }

// Settled reports whether no workflow is owed any more: the state stays until somebody asks for more.
func Settled(state string) bool {
	switch state {
	case semconv.Active, semconv.Degraded, semconv.Failed, semconv.ReleaseFailed:
		return true
	}
	return Terminal(state)
}

// Guards of allocations.
var (
	capacitySetAside = guard("capacity_set_aside", NodeNotReserved, func(f Facts) bool {
		return f.Provided || f.Occupancy == Reserved || f.Occupancy == Occupied
	})
	workNotBegun  = guard("work_not_begun", WorkBegun, func(f Facts) bool { return !f.Claimed })
	nodeInCleanup = guard("node_in_cleanup", NodeNotInCleanup, func(f Facts) bool {
		return f.Occupancy == "" || f.Occupancy == Cleanup || f.Occupancy == Fenced
	})
	ready           = guard("ready", ReadinessUnproven, func(f Facts) bool { return f.TasksDone && f.Observed })
	named           = guard("named", UnnamedActor, func(f Facts) bool { return f.Actor != "" })
	namedWithReason = guard("named_with_reason", UnnamedActor, func(f Facts) bool { return f.Actor != "" && f.Why != "" })
	// clean: the node was given back, which itself asks for proof.
	clean               = guard("clean", CleanupUnproven, func(f Facts) bool { return f.Occupancy == "" || f.Occupancy == Free })
	neverActiveAndClean = both("never_active_and_clean", guard("", WasActive, func(f Facts) bool { return !f.WasActive }), clean)
	verifiedAbsent      = both("verified_absent", namedWithReason, guard("", EvidenceMissing, func(f Facts) bool { return f.Absent && f.Evidence != "" }))
)
