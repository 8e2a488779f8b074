package lab

import (
	"math/rand/v2"
	"slices"
)

// schedule chooses stories: first each of them once, between healthy ones, then by weight. The same
// seed gives the same choices as long as the same pools are free when asked.
type schedule struct {
	rand  *rand.Rand
	cast  []story
	first []story // the opening, next one last
}

func newSchedule(seed uint64, names []string, served bool) *schedule {
	s := &schedule{rand: rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // a schedule, not a secret
	for _, st := range stories() {
		if st.served && !served {
			continue
		}
		if len(names) == 0 || slices.Contains(names, st.name) {
			s.cast = append(s.cast, st)
		}
	}
	for i, at := range s.rand.Perm(len(s.cast)) {
		if i%2 == 1 && s.cast[0].name == "healthy" {
			s.first = append(s.first, s.cast[0])
		}
		s.first = append(s.first, s.cast[at])
	}
	return s
}

// next is the next story among those whose pool is free. ok is false where there is none now.
func (s *schedule) next(free func(story) bool) (story, bool) {
	if n := len(s.first); n > 0 {
		if free(s.first[n-1]) {
			st := s.first[n-1]
			s.first = s.first[:n-1]
			return st, true
		}
		return story{}, false
	}
	total := 0
	for _, st := range s.cast {
		total += st.weight
	}
	for range 4 {
		at := s.rand.IntN(total)
		for _, st := range s.cast {
			if at -= st.weight; at < 0 {
				if free(st) {
					return st, true
				}
				break
			}
		}
	}
	return story{}, false
}
