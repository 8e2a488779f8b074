package lokiexporter

import (
	"cmp"
	"slices"
	"time"
)

// span is a stretch of time of a stream, in nanoseconds since 1970, both ends within. Since is when it was noted.
type span struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Since int64 `json:"since"`
}

// spanOf is the time of entries, which are in its order.
func spanOf(entries []entry, now time.Time) span {
	return span{entries[0].time, entries[len(entries)-1].time, now.UnixNano()}
}

// spans are stretches of streams, by labels: of each a few, in the order of time, that do not touch.
type spans map[string][]span

// maxSpans is how many stretches a stream has; of more, the two become one that have the shortest pause between them.
const maxSpans = 4

func (s spans) add(labels string, one span) {
	all := append(slices.Clone(s[labels]), one)
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	out := all[:1]
	for _, next := range all[1:] {
		if last := &out[len(out)-1]; next.From <= last.To {
			*last = last.with(next)
		} else {
			out = append(out, next)
		}
	}
	for len(out) > maxSpans {
		shortest := 1
		for i := 2; i < len(out); i++ {
			if out[i].From-out[i-1].To < out[shortest].From-out[shortest-1].To {
				shortest = i
			}
		}
		out[shortest-1] = out[shortest-1].with(out[shortest])
		out = slices.Delete(out, shortest, shortest+1)
	}
	s[labels] = out
}

func (a span) with(b span) span {
	return span{min(a.From, b.From), max(a.To, b.To), max(a.Since, b.Since)}
}

func (s spans) addAll(others spans) {
	for labels, all := range others {
		for _, one := range all {
			s.add(labels, one)
		}
	}
}

// touch says whether any moment of it is in a stretch of the stream.
func (s spans) touch(labels string, one span) bool {
	return slices.ContainsFunc(s[labels], func(of span) bool { return one.From <= of.To && of.From <= one.To })
}

// cover says whether all of it is.
func (s spans) cover(labels string, one span) bool {
	return slices.ContainsFunc(s[labels], func(of span) bool { return of.From <= one.From && one.To <= of.To })
}

// forget leaves out what was noted before an instant.
func (s spans) forget(before time.Time) {
	for labels, all := range s {
		all = slices.DeleteFunc(all, func(one span) bool { return one.Since < before.UnixNano() })
		if s[labels] = all; len(all) == 0 {
			delete(s, labels)
		}
	}
}
