package identity

import (
	"cmp"
	"slices"
)

// Interval says that an object held its subject during [From, To), in Unix nanoseconds.
type Interval struct {
	Object   string
	From, To int64
}

func (i Interval) covers(t int64) bool { return i.From <= t && t < i.To }

// move is one Opened, Closed or Lost link of a subject that moves.
type move struct {
	typ    LinkType
	object string
	at     int64
}

// compareMoves orders by object, then time; at one instant an end comes before a beginning, so that
// "closed and opened again" is two intervals and not an empty one.
func compareMoves(a, b move) int {
	if c := cmp.Compare(a.object, b.object); c != 0 {
		return c
	}
	if c := cmp.Compare(a.at, b.at); c != 0 {
		return c
	}
	return cmp.Compare(b.typ, a.typ)
}

func compareIntervals(a, b Interval) int {
	if c := cmp.Compare(a.From, b.From); c != 0 {
		return c
	}
	if c := cmp.Compare(a.To, b.To); c != 0 {
		return c
	}
	return cmp.Compare(a.Object, b.Object)
}

// assignments turns node.assigned and node.unassigned links into intervals. A second opening while one
// is open changes nothing; an end without a beginning opens nothing, because nobody said since when.
func assignments(moves []move) []Interval {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, compareMoves)
	var out []Interval
	open := -1
	for i, m := range moves {
		if i > 0 && moves[i-1].object != m.object {
			open = -1
		}
		switch {
		case m.typ == Opened && open < 0:
			out = append(out, Interval{m.object, m.at, Forever})
			open = len(out) - 1
		case m.typ != Opened && open >= 0:
			out[open].To = m.at
			open = -1
		}
	}
	return tidy(out)
}

// instancesOf turns node.instance links into intervals. A node instance begins once, at the earliest
// of its enrolling and live; only one that was lost begins again. It ends when it is superseded or lost,
// or when another one begins on the same node.
func instancesOf(moves []move) []Interval {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, compareMoves)
	var out []Interval
	open, begun, lost := -1, false, false
	for i, m := range moves {
		if i > 0 && moves[i-1].object != m.object {
			open, begun, lost = -1, false, false
		}
		switch {
		case m.typ == Opened && open < 0 && (!begun || lost):
			out = append(out, Interval{m.object, m.at, Forever})
			open, begun, lost = len(out)-1, true, false
		case m.typ != Opened:
			if open >= 0 {
				out[open].To = m.at
				open = -1
			}
			begun, lost = true, m.typ == Lost && (lost || len(out) > 0 && out[len(out)-1].Object == m.object && out[len(out)-1].To == m.at)
		}
	}
	out = tidy(out)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j].Object != out[i].Object && out[j].From > out[i].From {
				out[i].To = min(out[i].To, out[j].From)
				break
			}
		}
	}
	return tidy(out)
}

// tidy drops empty intervals and sorts the rest.
func tidy(in []Interval) []Interval {
	in = slices.DeleteFunc(in, func(i Interval) bool { return i.To <= i.From })
	slices.SortFunc(in, compareIntervals)
	return in
}

// latest picks, of the intervals that cover t, the one that began last: the later assignment wins from
// its start. Two that began together and disagree give nothing.
func latest(intervals []Interval, t int64) (Interval, bool) {
	begun, end := 0, len(intervals) // how many began until t
	for begun < end {
		if mid := (begun + end) / 2; intervals[mid].From > t {
			end = mid
		} else {
			begun = mid + 1
		}
	}
	var best Interval
	found := false
	for n := begun - 1; n >= 0; n-- {
		i := intervals[n]
		switch {
		case found && i.From < best.From:
			return best, true
		case !i.covers(t):
		case !found:
			best, found = i, true
		case i.Object != best.Object:
			return Interval{}, false
		}
	}
	return best, found
}

// Overlap is a stretch of time in which a subject was held by two objects at once.
type Overlap struct {
	Subject  Key
	Earlier  string
	Later    string // the one that wins from its start
	From, To int64
}

// overlaps lists the stretches that two objects claim.
func overlaps(subject Key, intervals []Interval) []Overlap {
	var out []Overlap
	for i, a := range intervals {
		for _, b := range intervals[i+1:] {
			if b.From >= a.To {
				break
			}
			if a.Object != b.Object {
				out = append(out, Overlap{subject, a.Object, b.Object, b.From, min(a.To, b.To)})
			}
		}
	}
	return out
}

func sortOverlaps(all []Overlap) {
	slices.SortFunc(all, func(a, b Overlap) int {
		if c := cmp.Compare(a.Subject.ID, b.Subject.ID); c != 0 {
			return c
		}
		if c := cmp.Compare(a.From, b.From); c != 0 {
			return c
		}
		if c := cmp.Compare(a.Earlier, b.Earlier); c != 0 {
			return c
		}
		return cmp.Compare(a.Later, b.Later)
	})
}
