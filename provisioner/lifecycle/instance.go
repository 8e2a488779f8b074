package lifecycle

import (
	"github.com/faultline-io/faultline/internal/semconv"
)

// States of a node instance: the operating system and the agent, from one enrolment to the next.
const (
	Enrolling  = semconv.Enrolling
	Live       = semconv.Live
	Superseded = semconv.Superseded // the node was enrolled again
)

// InstanceFacts are what guards of node instances look at.
type InstanceFacts struct {
	Current   string // the node's instance; "": it has none
	Successor string // the node instance that takes its place
}

// InstanceMove is one line of the table of node instances.
type InstanceMove = Move[InstanceFacts]

// instanceMoves is the whole state machine. A token is spent in the transaction that makes all of these moves.
// Nothing leads back from superseded: what that node instance reports does not count any more.
var instanceMoves = []InstanceMove{
	{"", Enrolling, "enrolment token spent", nil},
	{Enrolling, Live, "the one before is superseded", onlyOneLives},
	{Live, Superseded, "the node was enrolled again", hasSuccessor},
}

// MoveInstance reports whether the node instance may go from one state to another, nil if it may.
func MoveInstance(id, from, to string, f InstanceFacts) error {
	return decide(instanceMoves, OfInstance, id, from, to, f, "")
}

// Guards of node instances.
var (
	onlyOneLives = guard("only_one_lives", InstanceLives, func(f InstanceFacts) bool { return f.Current == "" })
	hasSuccessor = guard("has_successor", NoSuccessor, func(f InstanceFacts) bool { return f.Successor != "" && f.Successor != f.Current })
)
