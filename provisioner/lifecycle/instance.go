package lifecycle

import (
	"slices"

	"github.com/faultline-io/faultline/internal/semconv"
)

// States of a node instance: one installation of system and agent.
const (
	Enrolling  = semconv.Enrolling
	Live       = semconv.Live
	Superseded = semconv.Superseded // the node was enrolled again
)

// InstanceFacts are what guards of installations look at.
type InstanceFacts struct {
	Current   string // the node's installation; "": it has none
	Successor string // the installation that takes its place
}

// InstanceMove is one line of the table of installations.
type InstanceMove = Move[InstanceFacts]

// instanceMoves is the whole machine. A token is spent in the transaction that makes all of these moves.
// Nothing leads back from superseded: what that installation reports does not count any more.
var instanceMoves = []InstanceMove{
	{"", Enrolling, "enrolment token spent", nil},
	{Enrolling, Live, "the one before is superseded", onlyOneLives},
	{Live, Superseded, "the node was enrolled again", hasSuccessor},
}

// InstanceMoves is a copy of the table.
func InstanceMoves() []InstanceMove { return slices.Clone(instanceMoves) }

// MoveInstance says whether the installation may go from one state to another, nil if it may.
func MoveInstance(id, from, to string, f InstanceFacts) error {
	return decide(instanceMoves, OfInstance, id, from, to, f, "")
}

// Guards of installations.
var (
	onlyOneLives = guard("only_one_lives", InstanceLives, func(f InstanceFacts) bool { return f.Current == "" })
	hasSuccessor = guard("has_successor", NoSuccessor, func(f InstanceFacts) bool { return f.Successor != "" && f.Successor != f.Current })
)
