package identity

import "slices"

// smallSet is the size up to which a set is searched from end to end: cheaper than hashing, and most
// subjects have a handful of neighbours.
const smallSet = 16

// set keeps distinct values; their order says nothing.
type set[T comparable] struct {
	list []T
	at   map[T]int // place in list, beyond smallSet
}

func (s *set[T]) has(v T) bool {
	if s.at != nil {
		_, ok := s.at[v]
		return ok
	}
	return slices.Contains(s.list, v)
}

// add says whether the value is new.
func (s *set[T]) add(v T) bool {
	if s.has(v) {
		return false
	}
	s.list = append(s.list, v)
	switch {
	case s.at != nil:
		s.at[v] = len(s.list) - 1
	case len(s.list) > smallSet:
		s.at = make(map[T]int, 2*len(s.list))
		for i, v := range s.list {
			s.at[v] = i
		}
	}
	return true
}

func (s *set[T]) remove(v T) {
	i, ok := s.at[v]
	if s.at == nil {
		i = slices.Index(s.list, v)
		ok = i >= 0
	}
	if !ok {
		return
	}
	last := len(s.list) - 1
	moved := s.list[last]
	s.list[i] = moved
	clear(s.list[last:])
	s.list = s.list[:last]
	if s.at != nil {
		s.at[moved] = i
		delete(s.at, v)
	}
}
