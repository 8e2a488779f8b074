package identity

import "slices"

// component is a set of immovable subjects that are connected by having been seen together, with each
// one's allocation worked out. It goes stale when a link touches it.
//
// In a plain component, which most are, nothing is shared and no two allocations meet: all of it belongs
// to one allocation, or to none yet. What joins a plain component without bringing another allocation
// leaves it plain, so that the thousandth request of a workflow costs as much as the first.
type component struct {
	stale   bool
	plain   bool
	slot    uint16     // of its version: see memo
	label   string     // the allocation of a plain component
	members []*subject // of a plain component
}

// settle gives a subject that nothing was worked out for a plain component of its own, if all that it is
// connected to are the given number of new edges.
func (x *Index) settle(s *subject, edges int) {
	if s.component != nil || !s.key.Kind.Immovable() || len(s.peers.list) > edges || s.bound() || len(s.forgottenPeers) > 0 || len(s.allocations) > 1 {
		return
	}
	s.component = &component{plain: true, slot: s.slot, members: []*subject{s}}
	if len(s.allocations) == 1 {
		s.component.label = s.allocations[0]
	}
}

// join accounts for a new edge between two subjects.
func (x *Index) join(a, b *subject) {
	if a.ambiguous() || b.ambiguous() {
		return // an ambiguous subject connects nothing
	}
	x.settle(a, 1)
	x.settle(b, 1)
	into, from := a.component, b.component
	switch {
	case into == nil || from == nil || into.stale || from.stale || !into.plain || !from.plain,
		into.label != from.label && into.label != "" && from.label != "":
		x.stale(a)
		x.stale(b)
		return
	case into == from:
		return
	case len(into.members) < len(from.members):
		into, from = from, into
	}
	for _, s := range from.members {
		s.component = into
	}
	into.members = append(into.members, from.members...)
	if into.label == "" && from.label != "" {
		into.label = from.label
		x.touch(into.slot)
	}
	from.members, from.stale = nil, true
	x.touch(from.slot)
}

// bound says whether a stated link names the subject's allocation.
func (s *subject) bound() bool {
	return slices.ContainsFunc(s.binds.list, func(b bind) bool { return b.object.Kind == Allocation })
}

// ambiguous says whether a subject is bound to two allocations directly.
func (s *subject) ambiguous() bool { return len(s.direct()) > 1 }

// allocationOf is the closure's answer for one immovable subject, "" for a shared one.
func (v *view) allocationOf(s *subject) string {
	if s.component == nil || s.component.stale {
		if !v.write {
			v.stale = true
			return ""
		}
		v.x.solve(s)
	}
	v.depends.on(s.component.slot)
	return s.allocation()
}

// allocation of a subject whose component is not stale.
func (s *subject) allocation() string {
	switch {
	case s.component.plain:
		return s.component.label
	case s.shared:
		return ""
	}
	return s.label
}
