package correlator

import (
	"slices"
	"time"
)

// AliveBetween says whether a layer's telemetry is proven alive in [from, to]: any record of it, whoever it belongs
// to (domain facts §4.10, rule 2: a heartbeat, other requests). It gives the newest such record, the allocation's own
// and nobody's before one of another allocation.
func (c *Case) AliveBetween(layer string, from, to int64) *Event {
	if e := c.see(sight{seeLayer, layer, ""}).last(from, to, nil); e != nil || layer == "" {
		return e
	}
	list := c.others.of(layer)
	for i := firstAt(list, to+1) - 1; i >= 0 && list[i].At >= from; i-- {
		if e := list[i]; e.Allocation != c.ID {
			if !slices.Contains(c.borrowed, e) {
				c.borrowed = append(c.borrowed, e)
			}
			return e
		}
	}
	return nil
}

// aliveOn is AliveBetween of one machine's part of a layer.
func (c *Case) aliveOn(layer, node string, from, to int64) *Event {
	return c.see(sight{seeOf, layer, node}).last(from, to, nil)
}

// signs are records of all allocations by layer, in order of time: that a layer spoke of anyone shows that it is
// alive. Failures show it too, and are left out: nobody's trouble is proven by another's.
type signs struct{ byLayer map[string][]*Event }

// of lists a layer's signs.
func (s *signs) of(layer string) []*Event {
	if s == nil {
		return nil
	}
	return s.byLayer[layer]
}

// signsOf collects the signs of all cases of a gathering. One allocation alone needs none: its own records tell.
func signsOf(cases []*Case) *signs {
	if len(cases) < 2 {
		return nil
	}
	s := &signs{map[string][]*Event{}}
	for _, c := range cases {
		for _, e := range c.Events {
			if e.Layer != "" && !e.fails {
				s.byLayer[e.Layer] = append(s.byLayer[e.Layer], e)
			}
		}
	}
	for layer, list := range s.byLayer {
		s.byLayer[layer] = inTime(list)
	}
	return s
}

// How much of it a desk keeps: a sign a second of each layer, for the last ten minutes.
const (
	signEvery = int64(time.Second)
	signsKept = 600
)

// note keeps a record as a sign, if it is the layer's newest by a second.
func (s *signs) note(e *Event) {
	if e.Layer == "" || e.fails {
		return
	}
	list := s.byLayer[e.Layer]
	if n := len(list); n > 0 && e.At < list[n-1].At+signEvery {
		return
	}
	if len(list) >= 2*signsKept {
		list = slices.Clone(list[len(list)-signsKept:])
	}
	s.byLayer[e.Layer] = append(list, e)
}
