package correlator

import (
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
)

// eventIndex is a selection of events in order of time: the allocation's own, and of those without an allocation.
// The two lists are walked side by side and never merged, because the events without an allocation are shared by all
// cases of a dataset.
type eventIndex struct{ own, unattributed []*Event }

// indexKey names a selection. Each is made once, when a rule first asks for it: rules are many, troubles may be
// hundreds, and records a million.
type indexKey struct{ what, layer, name string }

// The selections.
const (
	everything = ""        // everything
	ofLayer    = "layer"   // what proves that a layer's telemetry is alive
	aboutNode  = "of"      // a layer's records that speak of the node called name
	namedEvent = "event"   // lifecycle events called name
	failing    = "failing" // what tells of a failure
	withBoot   = "boot"    // what carries a boot id and speaks of the node called name
)

// selects says whether an event belongs to a selection.
func (s indexKey) selects(e *Event) bool {
	switch s.what {
	case aboutNode:
		return e.inLayer(s.layer) && Names(e, s.name)
	case failing:
		return e.fails
	case withBoot:
		return e.Own(identity.Boot) != "" && Names(e, s.name)
	}
	return true
}

// selections are the lists of events that were asked for, by key; that of the zero key holds all, in order of time.
type selections map[indexKey][]*Event

// get gives one list, and makes it where it was not asked for before.
func (in selections) get(s indexKey) []*Event {
	if list, ok := in[s]; ok {
		return list
	}
	switch s.what {
	case namedEvent, ofLayer:
		// All names, or all layers, in one pass: rules ask for one after the other.
		if _, done := in[indexKey{what: s.what}]; !done {
			in[indexKey{what: s.what}] = []*Event{}
			in.sortOut(s.what)
		}
	default:
		list := []*Event{}
		for _, e := range in[indexKey{}] {
			if s.selects(e) {
				list = append(list, e)
			}
		}
		in[s] = list
	}
	return in[s]
}

// sortOut makes the selections of every event's name, or of every layer.
func (in selections) sortOut(what string) {
	var sorted buckets
	for _, e := range in[indexKey{}] {
		switch {
		case what != namedEvent:
			sorted.add(e.Layer, e)
			if e.beats != e.Layer {
				sorted.add(e.beats, e)
			}
		case e.IsEvent():
			sorted.add(e.Name, e)
		}
	}
	for _, p := range sorted.all {
		s := indexKey{what: what, layer: p.name}
		if what == namedEvent {
			s = indexKey{what: what, name: p.name}
		}
		in[s] = p.events
	}
}

// buckets are events by a name. Mostly there are few names: looking through them all is quicker than hashing.
type buckets struct {
	all  []*bucket
	more map[string]*bucket // those after the first few
}

type bucket struct {
	name   string
	events []*Event
}

const fewBuckets = 16

// add gives the bucket that the event went to, nil for one without a name.
func (p *buckets) add(name string, e *Event) *bucket {
	if name == "" {
		return nil
	}
	for _, one := range p.all[:min(len(p.all), fewBuckets)] {
		if one.name == name {
			one.events = append(one.events, e)
			return one
		}
	}
	one := p.more[name]
	if one == nil {
		one = &bucket{name: name}
		if p.all = append(p.all, one); len(p.all) > fewBuckets {
			if p.more == nil {
				p.more = map[string]*bucket{}
			}
			p.more[name] = one
		}
	}
	one.events = append(one.events, e)
	return one
}

// each calls look for the events of [from, to], in order of time.
func (v eventIndex) each(from, to int64, look func(*Event)) {
	own, context := v.own[firstAt(v.own, from):], v.unattributed[firstAt(v.unattributed, from):]
	for {
		e := earlier(own, context)
		if e == nil || e.At > to {
			return
		}
		if len(own) > 0 && e == own[0] {
			own = own[1:]
		} else {
			context = context[1:]
		}
		look(e)
	}
}

// earlier is the first of two lists' heads, nil where both are at their end.
func earlier(a, b []*Event) *Event {
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil
	case len(a) == 0:
		return b[0]
	case len(b) == 0 || CompareEvents(a[0], b[0]) <= 0:
		return a[0]
	}
	return b[0]
}

// last is the newest event in [from, to] of which ok holds.
func (v eventIndex) last(from, to int64, ok func(*Event) bool) *Event {
	newest := func(list []*Event) *Event {
		for i := firstAt(list, to+1) - 1; i >= 0 && list[i].At >= from; i-- {
			if ok == nil || ok(list[i]) {
				return list[i]
			}
		}
		return nil
	}
	a, b := newest(v.own), newest(v.unattributed)
	if a == nil || b != nil && CompareEvents(b, a) > 0 {
		return b
	}
	return a
}

// first is the earliest event after a time of which ok holds.
func (v eventIndex) first(t int64, ok func(*Event) bool) *Event {
	oldest := func(list []*Event) *Event {
		for _, e := range list[firstAt(list, t+1):] {
			if ok(e) {
				return e
			}
		}
		return nil
	}
	a, b := oldest(v.own), oldest(v.unattributed)
	if a == nil || b != nil && CompareEvents(b, a) < 0 {
		return b
	}
	return a
}

// firstAt is the position of the first event at or after a time.
func firstAt(events []*Event, t int64) int {
	i, _ := slices.BinarySearchFunc(events, t, func(e *Event, t int64) int {
		if e.At < t {
			return -1
		}
		return 1
	})
	return i
}

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
