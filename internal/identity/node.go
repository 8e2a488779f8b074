package identity

import (
	"math"
	"slices"
)

// nodeState is what is known of a node alone.
type nodeState struct {
	moves     set[move]  // node → allocation
	instances set[move]  // node → node_instance
	assigned  []Interval // derived from moves
	lived     []Interval // derived from instances
}

// node gives the place for what is known of a node.
func (s *subject) node() *nodeState {
	if s.nodeState == nil {
		s.nodeState = &nodeState{}
	}
	return s.nodeState
}

// derive says whether the intervals of a node are worked out, or can be now.
func (v *view) derive(node *subject) bool {
	if !node.derived {
		if !v.write {
			v.stale = true
			return false
		}
		node.derive()
	}
	return true
}

// derive works out the intervals of a node from its moves and stated links.
func (s *subject) derive() {
	if s.derived {
		return
	}
	s.derived = true
	s.node()
	s.assigned, s.lived = assignments(s.moves.list), instancesOf(s.instances.list)
	for _, b := range s.binds.list {
		switch b.object.Kind {
		case Allocation:
			s.assigned = append(s.assigned, Interval{b.object.ID, b.from, b.to})
		case NodeInstance:
			s.lived = append(s.lived, Interval{b.object.ID, b.from, b.to})
		}
	}
	s.assigned, s.lived = tidy(s.assigned), tidy(s.lived)
}

// Assignments lists when a node was whose, in order of beginning.
func (x *Index) Assignments(node string) []Interval {
	return x.intervals(node, func(s *subject) []Interval { return s.assigned })
}

// NodeInstances lists when which node instance lived on a node, in order of beginning.
func (x *Index) NodeInstances(node string) []Interval {
	return x.intervals(node, func(s *subject) []Interval { return s.lived })
}

// HeldMeanwhile are the allocations that held a node while one of its instances lived; for what is no instance, all that ever did.
func (x *Index) HeldMeanwhile(node string, of Key) (allocations []string) {
	lived := []Interval{{From: math.MinInt64, To: math.MaxInt64}}
	if of.Kind == NodeInstance {
		lived = slices.DeleteFunc(x.NodeInstances(node), func(i Interval) bool { return i.Object != of.ID })
	}
	for _, held := range x.Assignments(node) {
		if slices.ContainsFunc(lived, func(i Interval) bool { return held.From < i.To && i.From < held.To }) {
			allocations = append(allocations, held.Object)
		}
	}
	return allocations
}

func (x *Index) intervals(node string, of func(*subject) []Interval) []Interval {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.subjects[Key{Node, node}]
	if s == nil {
		return nil
	}
	s.derive()
	return append([]Interval(nil), of(s)...)
}

// Overlaps lists every stretch in which a node was assigned to two allocations at once.
func (x *Index) Overlaps() []Overlap {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []Overlap
	for k, s := range x.subjects {
		if k.Kind == Node {
			s.derive()
			out = append(out, overlaps(k, s.assigned)...)
		}
	}
	sortOverlaps(out)
	return out
}

// OverlapsOf lists the stretches in which one node was assigned to two allocations at once.
func (x *Index) OverlapsOf(node string) []Overlap {
	return overlaps(Key{Node, node}, x.Assignments(node))
}
