package identity

import (
	"cmp"
	"slices"
)

// direct lists the allocations that a subject is bound to without a detour: what stated links say,
// else the allocations seen with it.
func (s *subject) direct() []string {
	var stated []string
	for _, b := range s.binds.list {
		if b.object.Kind == Allocation && !slices.Contains(stated, b.object.ID) {
			stated = append(stated, b.object.ID)
		}
	}
	if len(stated) > 0 {
		return stated
	}
	return s.allocations
}

// solve works out the component around one subject.
//
// A subject that is bound to two allocations is shared: it resolves nothing and connects nothing. Bound
// directly that is a link. Bound by way of others it has to be found: allocations spread outwards from
// the subjects that name one, level by level, and where two meet, some subject between them is shared.
// It is the one whose neighbours belong to the most allocations (an image has many, a request two), and
// all of them where that ties: a record on nobody's timeline is better than one on the wrong one. Then
// again without it, until nothing meets.
func (x *Index) solve(from *subject) {
	members := collect(from)
	r := &component{slot: from.slot}
	g := graph{members: members, at: make(map[*subject]int, len(members))}
	for i, s := range members {
		g.at[s] = i
		if s.component != nil {
			x.touch(s.component.slot)
		}
		s.component, s.label, s.shared = r, "", false
	}
	g.init()
	if label, plain := g.plain(); plain {
		r.plain, r.label, r.members = true, label, members
		return
	}
	for {
		g.spread()
		worst := g.worst()
		if len(worst) == 0 {
			break
		}
		for _, i := range worst {
			g.blocked[i] = true
		}
	}
	for i, s := range members {
		s.shared = g.blocked[i]
		if !g.blocked[i] {
			s.label = g.label[i]
		}
	}
}

// collect finds all that is connected to a subject. A subject with two direct allocations is ambiguous:
// it connects nothing.
func collect(from *subject) []*subject {
	seen := map[*subject]bool{from: true}
	members := []*subject{from}
	for i := 0; i < len(members); i++ {
		if len(members[i].direct()) > 1 && members[i] != from {
			continue
		}
		if len(members[i].direct()) > 1 {
			break // the subject asked for is shared itself: nothing else matters
		}
		for _, p := range members[i].peers.list {
			if !seen[p] {
				seen[p] = true
				members = append(members, p)
			}
		}
	}
	// A canonical order, so that nothing below depends on the order of arrival.
	slices.SortFunc(members, func(a, b *subject) int {
		if c := cmp.Compare(a.key.Kind, b.key.Kind); c != 0 {
			return c
		}
		return cmp.Compare(a.key.ID, b.key.ID)
	})
	return members
}

// graph is the working state of solve; slices are by member, then by forgotten peer.
type graph struct {
	members []*subject
	at      map[*subject]int
	peers   [][]int
	fixed   []string // the one direct allocation, "" where there is none
	blocked []bool
	label   []string
	met     []bool // two allocations arrived at once
}

func (g *graph) init() {
	n := len(g.members)
	g.peers, g.fixed, g.blocked = make([][]int, n), make([]string, n), make([]bool, n)
	g.label, g.met = make([]string, n), make([]bool, n)
	for i, s := range g.members {
		direct := s.direct()
		switch {
		case len(direct) == 1:
			g.fixed[i] = direct[0]
		case len(direct) > 1:
			g.blocked[i] = true
		}
		for _, p := range s.peers.list {
			if j, ok := g.at[p]; ok {
				g.peers[i] = append(g.peers[i], j)
			}
		}
	}
	for i, s := range g.members {
		for _, allocation := range s.forgottenPeers { // stands for the neighbours that were forgotten
			forgotten := len(g.fixed)
			g.fixed, g.blocked, g.label, g.met = append(g.fixed, allocation), append(g.blocked, false), append(g.label, ""), append(g.met, false)
			g.peers = append(g.peers, []int{i})
			g.peers[i] = append(g.peers[i], forgotten)
		}
	}
}

// plain says whether nothing is shared and no two allocations can meet, and whose all is then.
func (g *graph) plain() (label string, plain bool) {
	for i, fixed := range g.fixed {
		if g.blocked[i] || fixed != "" && label != "" && fixed != label {
			return "", false
		}
		label = max(label, fixed)
	}
	return label, true
}

// spread lets every direct allocation flow outwards, all at one pace.
func (g *graph) spread() {
	var level []int
	for i := range g.fixed {
		g.label[i], g.met[i] = "", false
		if !g.blocked[i] && g.fixed[i] != "" {
			g.label[i] = g.fixed[i]
			level = append(level, i)
		}
	}
	for len(level) > 0 {
		arrived := map[int]string{}
		for _, i := range level {
			for _, j := range g.peers[i] {
				if g.blocked[j] || g.label[j] != "" || g.met[j] {
					continue
				}
				if a, ok := arrived[j]; ok && a != g.label[i] {
					arrived[j] = ""
				} else if !ok {
					arrived[j] = g.label[i]
				}
			}
		}
		level = level[:0]
		for j, a := range arrived {
			if a == "" {
				g.met[j] = true
			} else {
				g.label[j] = a
				level = append(level, j)
			}
		}
		slices.Sort(level)
	}
}

// worst lists the subjects to take for shared next, none where no two allocations meet.
func (g *graph) worst() []int {
	suspects := map[int]bool{}
	for i := range g.fixed {
		if g.blocked[i] {
			continue
		}
		if g.met[i] {
			suspects[i] = true
		}
		for _, j := range g.peers[i] {
			if g.blocked[j] || g.label[i] == "" || g.label[j] == "" || g.label[i] == g.label[j] {
				continue
			}
			// Two subjects that name different allocations themselves are a conflict of the record
			// that carries both, not a reason to doubt either.
			if g.fixed[i] == "" || g.fixed[j] == "" {
				suspects[i], suspects[j] = true, true
			}
		}
	}
	most, worst := 0, []int(nil)
	for i := range g.fixed {
		if !suspects[i] {
			continue
		}
		n := g.belongings(i)
		if g.fixed[i] != "" && n < 3 {
			continue // it names its allocation; one stray neighbour is the neighbour's matter
		}
		switch {
		case n > most:
			most, worst = n, []int{i}
		case n == most:
			worst = append(worst, i)
		}
	}
	return worst
}

// belongings counts the allocations of a subject and its neighbours.
func (g *graph) belongings(i int) int {
	found := map[string]bool{}
	if g.label[i] != "" {
		found[g.label[i]] = true
	}
	for _, j := range g.peers[i] {
		if !g.blocked[j] && g.label[j] != "" {
			found[g.label[j]] = true
		}
	}
	return len(found)
}
