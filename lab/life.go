package lab

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
)

// normalLife is how long a story may take that goes as it is written, before scaling.
const normalLife = 25 * time.Second

// life is what the lab itself knows of an allocation: what its client asked for and got, and when.
type life struct {
	id       string
	story    story
	node     string
	began    time.Time
	placed   time.Time // it was seen to have a node
	activeAt time.Time // it had what it wanted from here …
	givenUp  time.Time // … to here
	ended    time.Time // zero: it goes on
	end      string
	failed   []time.Time // requests that were refused or not answered
}

// overlaps tells whether somebody had to do something for the allocation, since it began, between two times; a zero
// `to` is now.
func (v *life) overlaps(began, from, to time.Time) bool {
	end := func(t time.Time) time.Time {
		if t.IsZero() {
			return time.Now()
		}
		return t
	}
	to = end(to)
	meets := func(a, b time.Time) bool { return !a.After(to) && !end(b).Before(from) }
	if v.activeAt.IsZero() {
		return meets(began, v.ended)
	}
	return meets(began, v.activeAt) || !v.givenUp.IsZero() && meets(v.givenUp, v.ended)
}

// late tells whether it takes, or took, longer than such lives do, counted from a time.
func (v *life) late(began time.Time, normal time.Duration) bool {
	end := v.ended
	if end.IsZero() {
		end = time.Now()
	}
	return end.Sub(began) > time.Duration(max(1, v.story.slow))*normal
}

func (v *life) failedBetween(from, to time.Time) bool {
	return slices.ContainsFunc(v.failed, func(t time.Time) bool { return !t.Before(from) && (to.IsZero() || !t.After(to)) })
}

func (l *lab) know(id string, f func(*life)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.lives[id]; v != nil {
		f(v)
	}
}

// requestFailed notes that the allocation's client did not get what it asked for.
func (l *lab) requestFailed(id string) {
	l.know(id, func(v *life) { v.failed = append(v.failed, time.Now()) })
}

// seen notes how the allocation stood when its client looked.
func (l *lab) seen(a rest.Allocation) {
	l.know(a.AllocationID, func(v *life) {
		if a.NodeID != "" {
			v.node = a.NodeID
			if v.placed.IsZero() {
				v.placed = time.Now()
			}
		}
		if a.State == semconv.Active && v.activeAt.IsZero() {
			v.activeAt = time.Now()
		}
	})
}

// collateral tells whether the allocation only waited for a node, which others had that met a fault: its failure
// is one of capacity.
func (v *life) collateral(from, to time.Time) bool {
	return !v.story.served && v.end == semconv.Failed && v.node == "" && !v.failedBetween(from, to)
}
