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

// What is usual is learnt from the last ten minutes, of ten moments or more at which a layer spoke.
const (
	usualOf    = int64(10 * time.Minute)
	fewSigns   = 10
	leastQuiet = int64(5 * time.Second)
)

// WentQuiet says whether a layer that spoke all the time, of whomever, has not been heard of for longer than three times the pause that it usually makes: one
// that is no longer nine tenths of the time.
func (c *Case) WentQuiet(layer string) bool {
	last, usual, ok := c.rhythm(layer)
	return ok && c.Now-last > max(3*usual, leastQuiet)
}

// DueAfter says whether a layer that speaks all the time has not been heard of since a time, and may be within its usual pauses: what it has
// to tell of that time may still come.
func (c *Case) DueAfter(layer string, at int64) bool {
	last, usual, ok := c.rhythm(layer)
	return ok && last <= at && c.Now-last <= max(3*usual, leastQuiet)
}

// PausedSince says whether a layer that speaks all the time was not heard of for much longer than it usually pauses, at some time since another:
// what it had to tell of that time may be lost for good.
func (c *Case) PausedSince(layer string, since int64) bool {
	at := c.signs(layer)
	if len(at) < fewSigns {
		return false
	}
	longest := max(muchLonger*pauseOf(at, 2), 3*leastQuiet)
	for i := range at[1:] {
		if at[i+1] > since && at[i+1]-at[i] > longest {
			return true
		}
	}
	return false
}

// rhythm is when a layer was heard of last, and how long it usually pauses; false where it was heard of too seldom to say.
func (c *Case) rhythm(layer string) (last, usual int64, ok bool) {
	at := c.signs(layer)
	if len(at) < fewSigns {
		return 0, 0, false
	}
	return at[len(at)-1], pauseOf(at, 10), true
}

// signs are the moments of the last ten minutes at which a layer was heard of, in order.
func (c *Case) signs(layer string) (at []int64) {
	c.EachIn(layer, c.Now-usualOf, c.Now, func(e *Event) { at = append(at, min(e.EndAt(), c.Now)) })
	list := c.Liveness.of(layer)
	for _, e := range list[firstAt(list, c.Now-usualOf):] {
		if e.At <= c.Now {
			at = append(at, e.At)
		}
	}
	slices.Sort(at)
	return slices.CompactFunc(at, func(a, b int64) bool { return max(a-b, b-a) < signEvery })
}

// pauseOf is the pause that pauses do not exceed for all but one part in so many of the time.
func pauseOf(at []int64, parts int64) (usual int64) {
	var pauses []int64
	for i := range at[1:] {
		pauses = append(pauses, at[i+1]-at[i])
	}
	slices.Sort(pauses)
	left := (at[len(at)-1] - at[0]) / parts * (parts - 1)
	for _, p := range pauses {
		if usual, left = p, left-p; left <= 0 {
			break
		}
	}
	return usual
}
