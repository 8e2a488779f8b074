package correlator

import (
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
)

// view is a selection of events in order of time: the allocation's own, and of those that belong to nobody.
// The two lists are walked side by side and never merged, because what belongs to nobody is shared by all
// cases of a gathering.
type view struct{ own, context []*Event }

// sight names a selection. Each is made once, when a rule first asks for it: rules are many, troubles may be
// hundreds, and records a million.
type sight struct{ what, layer, name string }

// The selections.
const (
	seeAll     = ""        // everything
	seeLayer   = "layer"   // what proves that a layer's telemetry is alive
	seeOf      = "of"      // a layer's records that speak of the machine called name
	seeEvent   = "event"   // lifecycle events called name
	seeFailing = "failing" // what tells of a failure
	seeBoot    = "boot"    // what carries a boot id and speaks of the machine called name
)

// selects says whether an event belongs to a selection.
func (c *Case) selects(s sight, e *Event) bool {
	switch s.what {
	case seeOf:
		return e.inLayer(s.layer) && Names(e, s.name)
	case seeFailing:
		return e.fails
	case seeBoot:
		return e.Own(identity.Boot) != "" && Names(e, s.name)
	}
	return true
}

// surroundings are the records that belong to nobody, in order of time, and the selections of them that were
// asked for. All cases of a gathering share them, so they are judged one after the other.
type surroundings struct {
	events []*Event
	seen   map[sight][]*Event
}

// see gives a selection.
func (c *Case) see(s sight) view {
	if c.around == nil {
		c.around = &surroundings{events: c.Context}
	}
	if c.around.seen == nil {
		c.around.seen = map[sight][]*Event{{}: c.around.events}
	}
	if c.seen == nil {
		own := c.Events
		if !slices.IsSortedFunc(own, compareEvents) {
			own = inTime(own)
		}
		c.seen = map[sight][]*Event{{}: own}
	}
	for _, in := range []map[sight][]*Event{c.seen, c.around.seen} {
		if _, ok := in[s]; ok {
			continue
		}
		switch s.what {
		case seeEvent, seeLayer:
			// All names, or all layers, in one pass: rules ask for one after the other.
			if _, done := in[sight{what: s.what}]; !done {
				in[sight{what: s.what}] = []*Event{}
				sortOut(in, s.what)
			}
		default:
			list := []*Event{}
			for _, e := range in[sight{}] {
				if c.selects(s, e) {
					list = append(list, e)
				}
			}
			in[s] = list
		}
	}
	return view{c.seen[s], c.around.seen[s]}
}

// sortOut makes the selections of every event's name, or of every layer.
func sortOut(in map[sight][]*Event, what string) {
	var sorted piles
	for _, e := range in[sight{}] {
		switch {
		case what != seeEvent:
			sorted.add(e.Layer, e)
			if e.beats != e.Layer {
				sorted.add(e.beats, e)
			}
		case e.IsEvent():
			sorted.add(e.Name, e)
		}
	}
	for _, p := range sorted.all {
		s := sight{what: what, layer: p.name}
		if what == seeEvent {
			s = sight{what: what, name: p.name}
		}
		in[s] = p.events
	}
}

// piles are events by a name. Mostly there are few names: looking through them all is quicker than hashing.
type piles struct {
	all  []*pile
	more map[string]*pile // those after the first few
}

type pile struct {
	name   string
	events []*Event
}

const fewPiles = 16

func (p *piles) add(name string, e *Event) {
	if name == "" {
		return
	}
	for _, one := range p.all[:min(len(p.all), fewPiles)] {
		if one.name == name {
			one.events = append(one.events, e)
			return
		}
	}
	one := p.more[name]
	if one == nil {
		one = &pile{name: name}
		if p.all = append(p.all, one); len(p.all) > fewPiles {
			if p.more == nil {
				p.more = map[string]*pile{}
			}
			p.more[name] = one
		}
	}
	one.events = append(one.events, e)
}

// each calls look for the events of [from, to], in order of time.
func (v view) each(from, to int64, look func(*Event)) {
	own, context := v.own[firstAt(v.own, from):], v.context[firstAt(v.context, from):]
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
	case len(b) == 0 || compareEvents(a[0], b[0]) <= 0:
		return a[0]
	}
	return b[0]
}

// last is the newest event in [from, to] of which ok holds.
func (v view) last(from, to int64, ok func(*Event) bool) *Event {
	newest := func(list []*Event) *Event {
		for i := firstAt(list, to+1) - 1; i >= 0 && list[i].At >= from; i-- {
			if ok == nil || ok(list[i]) {
				return list[i]
			}
		}
		return nil
	}
	a, b := newest(v.own), newest(v.context)
	if a == nil || b != nil && compareEvents(b, a) > 0 {
		return b
	}
	return a
}

// first is the earliest event after a time of which ok holds.
func (v view) first(t int64, ok func(*Event) bool) *Event {
	oldest := func(list []*Event) *Event {
		for _, e := range list[firstAt(list, t+1):] {
			if ok(e) {
				return e
			}
		}
		return nil
	}
	a, b := oldest(v.own), oldest(v.context)
	if a == nil || b != nil && compareEvents(b, a) < 0 {
		return b
	}
	return a
}

// Each calls look for every event of [from, to], own and context, in order of time.
func (c *Case) Each(from, to int64, look func(*Event)) { c.see(sight{}).each(from, to, look) }

// EachIn is Each of what proves that a layer's telemetry is alive (see Shows).
func (c *Case) EachIn(layer string, from, to int64, look func(*Event)) {
	c.see(sight{seeLayer, layer, ""}).each(from, to, look)
}

// EachEvent is Each of the lifecycle events of one name.
func (c *Case) EachEvent(name string, from, to int64, look func(*Event)) {
	c.see(sight{seeEvent, "", name}).each(from, to, look)
}

// EachBoot is Each of the records that carry a boot id and speak of a machine.
func (c *Case) EachBoot(node string, from, to int64, look func(*Event)) {
	c.see(sight{seeBoot, "", node}).each(from, to, look)
}

// LastOf is a layer's newest record in [from, to] that speaks of a machine, nil where there is none.
func (c *Case) LastOf(layer, node string, from, to int64) *Event {
	return c.see(sight{seeOf, layer, node}).last(from, to, func(e *Event) bool { return e.Layer == layer })
}

// inLayer says whether a record proves that a layer's telemetry is alive: it is the layer's own, or a
// heartbeat of one of its components.
func (e *Event) inLayer(layer string) bool {
	return layer != "" && (e.Layer == layer || e.beats == layer)
}

// Shows says whether a record proves that a layer's telemetry is alive.
func (c *Case) Shows(e *Event, layer string) bool { return e.inLayer(layer) }

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
