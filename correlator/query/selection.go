package query

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
)

// Selection says whose records are read, one after the other: those of one allocation, node, node
// instance, workflow, trace or correlation.
//
// A record is an allocation's, a node's, a node instance's or a workflow's if it resolves to it by all
// that is known at AsOf, whenever it was written and whatever was known then; and whatever names a
// node, a node instance, a workflow, a trace or a correlation is among its records. For traces and
// correlations see Peers.
type Selection struct {
	Key identity.Key
	// From and To bound the stamped time, [From, To) in Unix nanoseconds; 0 is open.
	From, To int64
	// AsOf leaves out records, and what was learnt, of a later ingested time; 0 takes what is there.
	AsOf int64
}

// selectable are the kinds whose records can be read.
var selectable = map[identity.Kind]bool{
	identity.Allocation: true, identity.Node: true, identity.NodeInstance: true,
	identity.Workflow: true, identity.Trace: true, identity.Correlation: true,
}

// ErrSelection says that a selection, or a query, cannot be answered as it stands.
var ErrSelection = errors.New("cannot be read")

// Validate says what is wrong with a selection.
func (s Selection) Validate() error {
	switch {
	case !selectable[s.Key.Kind]:
		return fmt.Errorf("records of a %q %w: name an allocation, node, node_instance, workflow, trace or correlation", s.Key.Kind, ErrSelection)
	case !identity.ValidID(s.Key.ID):
		return fmt.Errorf("%s %w: %w", s.Key.Kind.Attribute(), ErrSelection, identity.ErrID)
	}
	return validRange(s.From, s.To)
}

func validRange(from, to int64) error {
	if from != 0 && to != 0 && to <= from {
		return fmt.Errorf("a range of time whose end does not lie after its beginning %w", ErrSelection)
	}
	return nil
}

// within says whether a stamped time lies in [from, to), 0 being open.
func within(t, from, to int64) bool { return (from == 0 || t >= from) && (to == 0 || t < to) }

// Covers says whether a record of this stamped time can be in the selection.
func (s Selection) Covers(t int64) bool { return within(t, s.From, s.To) }

// Position is a place in the order in which records are read: stamped time, source, key.
type Position struct {
	Time        int64
	Source, Key string
}

// Beginning lies before all records.
func Beginning() Position { return Position{Time: math.MinInt64} }

// End lies after all records.
func End() Position { return Position{Time: math.MaxInt64, Source: "\uffff"} }

// PositionOf is the place of an event in that order.
func PositionOf(e *correlator.Event) Position { return Position{e.Time, e.Service, e.Key} }

// Compare is the order: time, source, key.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Time, q.Time), cmp.Compare(p.Source, q.Source), cmp.Compare(p.Key, q.Key))
}

// ErrBounded says that more identifiers lead to what was asked for than are followed: what carries its
// identifier was read, late-linked records may be missing.
var ErrBounded = errors.New("more identifiers lead here than are followed, late-linked records may be missing")
