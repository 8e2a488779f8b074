package identity

import (
	"cmp"
	"slices"
)

// maxHistory is how many statements of one kind an index that forgets keeps of one subject, at least: a
// node that is let a hundred times a day would otherwise grow for ever and never be unused.
const maxHistory = 256

// trim drops what was stated for the longest ago, once there is twice as much as is kept. What is dropped
// is counted.
func (x *Index) trim(s *subject) {
	if !x.opt.Forget {
		return
	}
	byTime := func(a, b move) int {
		return cmp.Or(cmp.Compare(a.at, b.at), compareMoves(a, b))
	}
	if s.nodeState != nil {
		x.trimmed += trimSet(&s.moves, byTime) + trimSet(&s.instances, byTime)
	}
	x.trimmed += trimSet(&s.binds, func(a, b bind) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.object.Kind, b.object.Kind), cmp.Compare(a.object.ID, b.object.ID))
	})
}

// trimSet keeps the last maxHistory by an order, and says how many went.
func trimSet[T comparable](s *set[T], order func(a, b T) int) int {
	n := len(s.list)
	if n < 2*maxHistory {
		return 0
	}
	all := s.list
	slices.SortFunc(all, order)
	*s = set[T]{}
	for _, v := range all[n-maxHistory:] {
		s.add(v)
	}
	return n - maxHistory
}
