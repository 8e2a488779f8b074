package correlator

import (
	"slices"
	"time"
)

// Liveness are records of all allocations by layer, in order of time: that a layer spoke of anyone shows that it is
// alive. Failures show it too, and are left out: a trouble is not proven by another allocation's failure.
type Liveness struct{ byLayer map[string][]*Event }

// of lists a layer's signs.
func (s *Liveness) of(layer string) []*Event {
	if s == nil {
		return nil
	}
	return s.byLayer[layer]
}

// NewLiveness has no signs yet.
func NewLiveness() *Liveness { return &Liveness{map[string][]*Event{}} }

// How much of it a working set keeps: a sign a second of each layer, for the last ten minutes.
const (
	signEvery = int64(time.Second)
	signsKept = 600
)

// Note keeps a record as a sign, if it is the layer's newest by a second.
func (s *Liveness) Note(e *Event) {
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
