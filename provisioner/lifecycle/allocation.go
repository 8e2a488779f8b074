package lifecycle

import "github.com/faultline-io/faultline/internal/semconv"

// Facts are what is known when an allocation is about to move; guards look at nothing else.
type Facts struct {
	Occupancy  string // of the allocation's node; "" without a node
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
type AllocationMove struct {
	From, To string
	Trigger  string
	Guard    func(Facts) Reason // nil: always
}

// AllocationMoves is the whole machine. "" is the state before the allocation exists. The pairs are
// those of semconv.AllocationMoves, which is what readers of telemetry check against.
func AllocationMoves() []AllocationMove {
	return []AllocationMove{
		{"", semconv.Requested, "create accepted", nil}, // with its outbox row, in one transaction
		{semconv.Requested, semconv.Reserved, "placement", nodeReserved},
		{semconv.Requested, semconv.Canceled, "cancel before any work", workNotBegun},
		{semconv.Requested, semconv.Failed, "no placement before the deadline", nil},
		{semconv.Reserved, semconv.Provisioning, "workflow started", nodeReserved},
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
}

// MoveAllocation says whether the allocation id may go from one state to another, nil if it may.
func MoveAllocation(id, from, to string, f Facts) error {
	for _, m := range AllocationMoves() {
		if m.From != from || m.To != to {
			continue
		}
		if m.Guard == nil {
			return nil
		}
		if reason := m.Guard(f); reason != Allowed {
			return &Refusal{Reason: reason, Subject: "allocation " + id, From: from, To: to, Detail: f.Incomplete}
		}
		return nil
	}
	return &Refusal{Reason: IllegalMove, Subject: "allocation " + id, From: from, To: to}
}

// Terminal says whether nothing follows.
func Terminal(state string) bool { return state == semconv.Released || state == semconv.Canceled }

// Settled says whether no workflow is owed any more: the state stays until somebody asks for more.
func Settled(state string) bool {
	switch state {
	case semconv.Active, semconv.Degraded, semconv.Failed, semconv.ReleaseFailed:
		return true
	}
	return Terminal(state)
}

func nodeReserved(f Facts) Reason {
	return unless(f.Occupancy == Reserved || f.Occupancy == Occupied, NodeNotReserved)
}

func workNotBegun(f Facts) Reason { return unless(!f.Claimed, WorkBegun) }

func nodeInCleanup(f Facts) Reason {
	return unless(f.Occupancy == "" || f.Occupancy == Cleanup || f.Occupancy == Fenced, NodeNotInCleanup)
}

func ready(f Facts) Reason { return unless(f.TasksDone && f.Observed, ReadinessUnproven) }

func named(f Facts) Reason { return unless(f.Actor != "", UnnamedActor) }

func namedWithReason(f Facts) Reason { return unless(f.Actor != "" && f.Why != "", UnnamedActor) }

// clean: the node was given back, which itself asks for proof.
func clean(f Facts) Reason {
	return unless(f.Occupancy == "" || f.Occupancy == Free, CleanupUnproven)
}

func neverActiveAndClean(f Facts) Reason {
	if f.WasActive {
		return WasActive
	}
	return clean(f)
}

func verifiedAbsent(f Facts) Reason {
	if r := namedWithReason(f); r != Allowed {
		return r
	}
	return unless(f.Absent && f.Evidence != "", EvidenceMissing)
}

func unless(ok bool, r Reason) Reason {
	if ok {
		return Allowed
	}
	return r
}
