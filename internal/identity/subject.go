package identity

import (
	"slices"
	"strings"
	"sync/atomic"
)

// subject is all that is known of one key. Everything but its derived part only ever grows.
type subject struct {
	// What most look-ups read stands first, on one cache line.
	used      atomic.Uint32 // the epoch of its last use
	gone      bool          // forgotten
	shared    bool          // derived: resolves nothing, in a component that is not plain
	derived   bool          // assigned and lived are valid
	slot      uint16        // of its version: see memo
	component *component    // derived: nil until it is worked out
	binds     set[bind]     // what was stated
	flow      string        // the workflow among its peers, "" where there are several
	flows     int

	key            Key
	peers          set[*subject]
	allocations    []string // allocations seen with it, at most two are kept: two make it shared
	*nodeState              // of a node: nil for all others, which are nearly all
	forgottenPeers []string // allocations of neighbours that were forgotten

	label string // derived: its allocation by closure, in a component that is not plain
}

type bind struct {
	object   Key
	from, to int64
}

// use keeps a subject from being forgotten in this epoch. Readers call it too.
func (s *subject) use(epoch uint32) {
	if s.used.Load() != epoch {
		s.used.Store(epoch)
	}
}

// knows says whether being seen with an object would tell nothing new; o is the object's subject.
func (s *subject) knows(object Key, o *subject) bool {
	switch {
	case s == nil:
		return false
	case object.Kind == Allocation:
		return len(s.allocations) > 1 || slices.Contains(s.allocations, object.ID)
	case !object.Kind.Immovable():
		return s.binds.has(bind{object, Always, Forever})
	case o == nil:
		return false
	case len(o.peers.list) < len(s.peers.list):
		return o.peers.has(s)
	}
	return s.peers.has(o)
}

// allocate notes an allocation that was seen with the subject.
func (x *Index) allocate(s *subject, id string) {
	if len(s.allocations) > 1 || slices.Contains(s.allocations, id) {
		return
	}
	id = strings.Clone(id)
	s.allocations = append(s.allocations, id)
	x.touch(s.slot)
	x.settle(s, 0)
	if r := s.component; r == nil || r.stale || !r.plain || s.bound() || len(s.allocations) > 1 || r.label != "" && r.label != id {
		x.stale(s)
		return
	}
	s.component.label = id
	x.touch(s.component.slot)
}

// meet notes that one of the subject's new neighbours is a workflow.
func (x *Index) meet(s, peer *subject) {
	if peer.key.Kind != Workflow || s.flows == 1 && s.flow == peer.key.ID {
		return
	}
	x.touch(s.slot)
	if s.flows++; s.flows == 1 {
		s.flow = peer.key.ID
	} else {
		s.flow = ""
	}
}

// forgetPeer notes the allocation of a neighbour that is forgotten, so that what led to two allocations
// still does.
func (x *Index) forgetPeer(s *subject, allocation string) {
	const enough = 4 // what the closure can still tell apart
	if allocation != "" && len(s.forgottenPeers) < enough && !slices.Contains(s.forgottenPeers, allocation) {
		s.forgottenPeers = append(s.forgottenPeers, allocation)
		slices.Sort(s.forgottenPeers)
	}
	x.stale(s)
}

// stale says that the component of a subject has to be worked out anew.
func (x *Index) stale(s *subject) {
	if s.component != nil {
		s.component.stale = true
		x.touch(s.component.slot)
	}
}
