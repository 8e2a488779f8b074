// Package latency compares how long providers take, by phase, from stored telemetry alone: lifecycle
// events say when an allocation entered a state, provider_job events say who served it.
package latency

import (
	"slices"
	"strconv"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Phases of an allocation's life.
const (
	Provision   = "provision"   // requested to active
	Deprovision = "deprovision" // releasing to released
	Overall     = "overall"     // both together, without the use between them
)

// Phases lists them in the order of a report.
func Phases() []string { return []string{Overall, Provision, Deprovision} }

// ScaleKey is the attribute that says how much faster than life an experiment ran: seconds of the clock
// for one second of life.
const ScaleKey = "faultline.lab.time_scale"

// Samples collects durations, in seconds of life, by provider and phase.
type Samples struct {
	scale float64
	lives map[string]*life
}

type life struct {
	provider string
	entered  map[string]int64 // state → when it was entered first, Unix nanoseconds
}

// NewSamples is empty.
func NewSamples() *Samples {
	return &Samples{scale: 1, lives: map[string]*life{}}
}

// Take looks at one record. Order doesn't matter, and a record that comes twice counts once.
func (s *Samples) Take(r *record.Record) {
	if scale, err := strconv.ParseFloat(r.Attr(ScaleKey), 64); err == nil && scale > 0 {
		s.scale = scale
	}
	id := r.Attr(semconv.AllocationID)
	if !r.IsEvent() || id == "" {
		return
	}
	l := s.lives[id]
	if l == nil {
		l = &life{entered: map[string]int64{}}
		s.lives[id] = l
	}
	switch r.Name {
	case semconv.EventProviderState:
		l.provider = r.Attr(semconv.Provider)
	case semconv.EventAllocationState:
		to := r.Attr(semconv.To)
		if at, known := l.entered[to]; !known || r.Time < at {
			l.entered[to] = r.Time
		}
	}
}

// Of gives the durations of one provider and phase in seconds of life, ascending; allocations that have
// not come to the phase's end are left out.
func (s *Samples) Of(provider, phase string) []float64 {
	var out []float64
	for _, l := range s.lives {
		up, haveUp := l.between(semconv.Requested, semconv.Active)
		down, haveDown := l.between(semconv.Releasing, semconv.Released)
		if l.provider != provider {
			continue
		}
		switch {
		case phase == Provision && haveUp:
			out = append(out, up.Seconds()/s.scale)
		case phase == Deprovision && haveDown:
			out = append(out, down.Seconds()/s.scale)
		case phase == Overall && haveUp && haveDown:
			out = append(out, (up+down).Seconds()/s.scale)
		}
	}
	slices.Sort(out)
	return out
}

func (l *life) between(from, to string) (time.Duration, bool) {
	a, haveA := l.entered[from]
	b, haveB := l.entered[to]
	return time.Duration(b - a), haveA && haveB && b >= a
}
