package correlator

import "slices"

// spanning is a list of events in order of time that answers which of them touch a window without looking at
// all: a span that began long before may reach into it.
type spanning struct {
	events []*Event
	ends   []int64 // the latest end of any event up to here
}

func spanningOf(events []*Event) spanning {
	s := spanning{events: events, ends: make([]int64, len(events))}
	latest := int64(0)
	for i, e := range events {
		latest = max(latest, e.EndAt())
		s.ends[i] = latest
	}
	return s
}

// around gives the events that touch [from, to], in order.
func (s spanning) around(from, to int64) []*Event {
	last := firstAt(s.events, to+1)
	first, _ := slices.BinarySearch(s.ends, from) // before it, everything had ended
	var out []*Event
	for i := first; i < last; i++ {
		if s.events[i].EndAt() >= from {
			out = append(out, s.events[i])
		}
	}
	return out
}
