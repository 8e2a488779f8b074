package lifecycle

import "github.com/faultline-io/faultline/internal/semconv"

// Occupancies of a node, orthogonal to what the node itself does.
const (
	Free     = "free"
	Reserved = semconv.Reserved
	Occupied = "occupied" // something of the allocation may be on it: a task was claimed
	Cleanup  = "cleanup"  // something of the allocation may still be on it
	Fenced   = "fenced"   // kept out of use: proof of cleanup is missing
)

// NodeMove is one line of the occupancy table.
type NodeMove struct {
	From, To string
	Trigger  string
	Guard    func(NodeFacts) Reason // nil: always
}

// NodeFacts are what guards of occupancy look at.
type NodeFacts struct {
	Untouched bool   // no task of the allocation was ever claimed
	Proof     string // reference to what proves that nothing is left: a task, an operator's evidence
	Actor     string // the operator, where one acts
}

// NodeMoves is the whole machine. There is no way from cleanup back to use but through free, and
// none from occupied to free but through cleanup.
func NodeMoves() []NodeMove {
	return []NodeMove{
		{Free, Reserved, "placement", nil},
		{Reserved, Occupied, "first claim", nil},
		{Reserved, Free, "cancel before any work", untouched},
		{Reserved, Cleanup, "gave up", nil},
		{Occupied, Cleanup, "release, cancel or gave up", nil},
		{Cleanup, Free, "cleanup proof", proven},
		{Cleanup, Fenced, "proof missing, retries exhausted", nil},
		{Fenced, Cleanup, "retry or forced release", operator},
		{Fenced, Free, "verified absent", provenByOperator},
		{Free, Fenced, "operator", operator},
		{Reserved, Fenced, "operator", operator},
		{Occupied, Fenced, "operator", operator},
	}
}

// MoveNode says whether the node may change its occupancy, nil if it may.
func MoveNode(id, from, to string, f NodeFacts) error {
	for _, m := range NodeMoves() {
		if m.From != from || m.To != to {
			continue
		}
		if m.Guard == nil {
			return nil
		}
		if reason := m.Guard(f); reason != Allowed {
			return &Refusal{Reason: reason, Subject: "node " + id, From: from, To: to}
		}
		return nil
	}
	return &Refusal{Reason: IllegalMove, Subject: "node " + id, From: from, To: to}
}

func untouched(f NodeFacts) Reason { return unless(f.Untouched, WorkBegun) }
func proven(f NodeFacts) Reason    { return unless(f.Proof != "", CleanupUnproven) }
func operator(f NodeFacts) Reason  { return unless(f.Actor != "", UnnamedActor) }

func provenByOperator(f NodeFacts) Reason {
	if r := operator(f); r != Allowed {
		return r
	}
	return proven(f)
}

// States of a node instance: one installation of system and agent.
const (
	Enrolling  = semconv.Enrolling
	Live       = semconv.Live
	Superseded = semconv.Superseded // the node was enrolled again
)
