package lifecycle

import (
	"slices"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Occupancies of a node, orthogonal to what the node itself does.
const (
	Free     = "free"
	Reserved = semconv.Reserved
	Occupied = "occupied" // something of the allocation may be on it: a task was claimed
	Cleanup  = "cleanup"  // something of the allocation may still be on it
	Fenced   = "fenced"   // kept out of use by an operator
)

// NodeFacts are what guards of occupancy look at.
type NodeFacts struct {
	Untouched bool   // no task of the allocation was ever claimed
	Proof     string // reference to what proves that nothing is left: a task, an operator's evidence
	Actor     string // the operator, where one acts
}

// NodeMove is one line of the occupancy table.
type NodeMove = Move[NodeFacts]

// nodeMoves is the whole state machine. There is no way from cleanup back to use but through free, and none from
// occupied to free but through cleanup. A release that has used up its tries leaves its node in cleanup, which
// keeps it out of use as well and lets its tenant try again; a fence, which only an operator can lift, is
// an operator's alone.
var nodeMoves = []NodeMove{
	{Free, Reserved, "placement", nil},
	{Reserved, Occupied, "first claim", nil},
	{Reserved, Free, "cancel before any work", untouched},
	{Reserved, Cleanup, "gave up", nil},
	{Occupied, Cleanup, "release, cancel or gave up", nil},
	{Cleanup, Free, "cleanup proof", proven},
	{Cleanup, Fenced, "fence", operator},
	{Fenced, Cleanup, "unfence or forced release", operator},
	{Fenced, Free, "verified absent", provenByOperator},
	{Free, Fenced, "fence", operator},
	{Reserved, Fenced, "fence", operator},
	{Occupied, Fenced, "fence", operator},
}

// NodeMoves is a copy of the table.
func NodeMoves() []NodeMove { return slices.Clone(nodeMoves) }

// MoveNode reports whether the node may change its occupancy, nil if it may.
func MoveNode(id, from, to string, f NodeFacts) error {
	return decide(nodeMoves, OfNode, id, from, to, f, "")
}

// Guards of occupancy.
var (
	untouched        = guard("untouched", WorkBegun, func(f NodeFacts) bool { return f.Untouched })
	proven           = guard("proven", CleanupUnproven, func(f NodeFacts) bool { return f.Proof != "" })
	operator         = guard("operator", UnnamedActor, func(f NodeFacts) bool { return f.Actor != "" })
	provenByOperator = both("proven_by_operator", operator, proven)
)
