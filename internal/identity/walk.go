package identity

// Bounds of following links from one subject.
const (
	freeSteps = 64      // subjects visited without noting which: nearly every record needs three at most
	maxSteps  = 1 << 14 // links followed; what leads further is a tangle that somebody made
)

// walk is one search along stated links. Links may lead in circles and every subject may be bound
// to every other one, so that the ways are countless while the subjects are few: a search that grows
// notes what it has found out of each subject at each length of chain. All of it is searched whatever is
// found, so that the answer, and whether there is one, depends on the links alone.
type walk struct {
	steps int // subjects without notes, links with them
	noted map[stage]string
}

// stage is a subject at a length of chain that may still be followed.
type stage struct {
	s     *subject
	chain int
}

// over says whether the search is given up.
func (w *walk) over() bool {
	if w.noted == nil {
		return w.steps > freeSteps
	}
	return w.steps > maxSteps
}

// stated is the allocation of one immovable subject at a time; "" where its links lead too far, which
// is counted.
func (v *view) stated(s *subject, at int64) string {
	v.walk = walk{}
	allocation := v.belongs(s, at, maxChain)
	if !v.walk.over() {
		return allocation
	}
	v.walk = walk{noted: map[stage]string{}}
	if allocation = v.belongs(s, at, maxChain); v.walk.over() {
		v.x.tangled.Add(1)
		v.depends.forbidCaching()
		return ""
	}
	return allocation
}

// belongs is the allocation of one immovable subject at a time: by stated links that cover it, the
// one that began last first, nothing where two began together and disagree; else by the closure.
func (v *view) belongs(s *subject, at int64, chain int) string {
	if len(s.binds.list) == 0 || chain == 0 {
		return v.allocationOf(s)
	}
	if v.walk.noted == nil {
		v.walk.steps++
	} else if known, ok := v.walk.noted[stage{s, chain}]; ok {
		return known
	}
	best, since, found, tied, elsewhen := "", int64(0), false, false, false
	for _, b := range s.binds.list {
		if v.walk.over() {
			return ""
		}
		v.depends.change(at, b.from)
		v.depends.change(at, b.to)
		if at < b.from || at >= b.to {
			elsewhen = elsewhen || b.object.Kind == Allocation
			continue
		}
		allocation := v.bound(b.object, at, chain)
		switch {
		case allocation == "":
		case !found || b.from > since:
			best, since, found, tied = allocation, b.from, true, false
		case b.from == since && allocation != best:
			tied = true
		}
	}
	switch {
	case tied:
		best = ""
	case !found && !elsewhen: // elsewhen: bound, but not at this time
		best = v.allocationOf(s)
	}
	if v.walk.noted != nil {
		v.walk.noted[stage{s, chain}] = best
	}
	return best
}

// bound is what one link leads to.
func (v *view) bound(object Key, at int64, chain int) string {
	if v.walk.noted != nil {
		v.walk.steps++
	}
	switch {
	case object.Kind == Allocation:
		return object.ID
	case object.Kind.Immovable():
		o := v.x.subjects[object]
		if v.dependOn(object, o); o != nil {
			return v.belongs(o, at, chain-1)
		}
	}
	return ""
}
