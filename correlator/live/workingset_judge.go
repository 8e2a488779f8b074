package live

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
)

// Judged is what judging an allocation of the working set gives.
type Judged struct {
	Assessment correlator.Assessment
	Arrived    []*correlator.Event        // since it was last judged
	Completed  []correlator.CompletedStep // its steps that came to their proper end, also those of earlier judgements
	// Supplement gives what is to be kept beside a verdict on it, before anything else is judged; ok is false where that is too much.
	Supplement func(v correlator.Verdict) (s correlator.Supplement, ok bool)
	Moved      bool // what is read of its records is not as they were stamped, since it was last judged
	Waits      bool // a deadline has passed, and the record that met it may still be under way: judge again when that has settled
}

// Judge gives the assessment of an allocation. What was observed until the watermark (0: ever) is here or never comes: a
// deadline that passed later is not held against anybody yet. ok is false where nothing of it is held.
func (w *WorkingSet) Judge(allocation string, watermark int64) (out Judged, ok bool) {
	f := w.entries[allocation]
	if f == nil {
		return Judged{}, false
	}
	moved := f.moved
	f.moved = false
	own := w.resolveAgain(allocation, f)
	moved = moved || f.moved
	f.moved = false
	if len(own) == 0 {
		delete(w.entries, allocation)
		return Judged{}, false
	}
	c := w.caseOf(allocation, own, watermark)
	s := correlator.NewAssessment(c, correlator.Judge(c, w.rules))
	s.Verdict = f.grounded.of(c, w.rules, s.Verdict)
	arrived := f.arrived
	f.arrived = nil
	if len(s.Verdict.Faults) > 0 && f.judged != 0 {
		cited := c.Cited(s.Verdict.Faults)
		for _, e := range c.Unattributed {
			if e.Ingested > f.judged && cited[e.Ref] == e {
				arrived = append(arrived, e)
			}
		}
	}
	f.judged = w.high
	return Judged{
		Assessment: s, Arrived: arrived, Completed: c.CompletedSteps(), Waits: c.Waits(), Moved: moved,
		Supplement: func(v correlator.Verdict) (correlator.Supplement, bool) { return c.Supplement(v, f.foreign) },
	}, true
}

// caseOf is the case of an allocation, with what others ordinarily said and were answered where something is unsettled.
func (w *WorkingSet) caseOf(allocation string, own []*correlator.Event, watermark int64) *correlator.Case {
	around := w.around(own)
	with := func(unattributed, others []*correlator.Event) *correlator.Case {
		return correlator.NewCase(allocation, own, &correlator.Env{
			Profile: w.profile, Index: w.index, Now: w.now, Watermark: watermark, Durations: w.durations, Liveness: w.liveness,
			Unattributed: unattributed, Others: others,
		})
	}
	c := with(around, nil)
	if len(w.ordinary.kinds)+len(w.answers.kinds) == 0 {
		return c
	}
	unsettled := c.Unsettled()
	ordinary, others := merged(w.ordinary.around(unsettled, w.now), w.ordinary.during(unsettled, w.now)), w.answers.around(unsettled, w.now)
	if len(ordinary)+len(others) > 0 {
		return with(merged(around, ordinary), others)
	}
	return c
}

// merged are two lists in order of time as one, each event once.
func merged(a, b []*correlator.Event) []*correlator.Event {
	out := make([]*correlator.Event, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch order := correlator.CompareEvents(a[0], b[0]); {
		case order < 0:
			out, a = append(out, a[0]), a[1:]
		case order > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			a = a[1:]
		}
	}
	return append(append(out, a...), b...)
}

// resolveAgain keeps the events that are still the allocation's by all that is known now, and places the others anew.
func (w *WorkingSet) resolveAgain(allocation string, f *entry) []*correlator.Event {
	own := make([]*correlator.Event, 0, len(f.events))
	for _, e := range f.events {
		if e.ResolveAgain(w.index, w.now) {
			f.moved = true
		}
		if e.Allocation == allocation {
			own = append(own, e)
			continue
		}
		w.place(e)
	}
	f.events = own
	return own
}

// Holds says whether an allocation is in the working set, and whether from its beginning.
func (w *WorkingSet) Holds(allocation string) (holds, begun bool) {
	f := w.entries[allocation]
	return f != nil, f != nil && f.begun
}

// First is the earliest time that a record of an allocation states, 0 where none is held.
func (w *WorkingSet) First(allocation string) int64 {
	f := w.entries[allocation]
	if f == nil || len(f.events) == 0 {
		return 0
	}
	first := f.events[0].Time
	for _, e := range f.events[1:] {
		first = min(first, e.Time)
	}
	return first
}

// HasBeginning notes that an allocation is held from its beginning.
func (w *WorkingSet) HasBeginning(allocation string) {
	if f := w.entries[allocation]; f != nil {
		f.begun = true
	}
}

// Loaded notes that all that the store knows of an allocation has been read, and is held.
func (w *WorkingSet) Loaded(allocation string) {
	if f := w.entries[allocation]; f != nil {
		f.begun, f.arrived = true, nil
	}
}

// Heard is when an allocation's newest record arrived, 0 where none is held.
func (w *WorkingSet) Heard(allocation string) int64 {
	if f := w.entries[allocation]; f != nil {
		return f.heard
	}
	return 0
}

// Urgent says whether anything that arrived since an allocation was last judged is likely to change its
// verdict: a lifecycle event, or a failure.
func (w *WorkingSet) Urgent(allocation string) bool {
	f := w.entries[allocation]
	return f != nil && slices.ContainsFunc(f.arrived, (*correlator.Event).Significant)
}

// grounded is what the faults of an allocation were last found to stand on: finding that takes more judgements than the first one did, and
// is done again only when the rules cite something else.
type grounded struct{ said, stands []correlator.Fault }

// of completes what a verdict's faults cite.
func (g *grounded) of(c *correlator.Case, rules []correlator.Rule, v correlator.Verdict) correlator.Verdict {
	if len(v.Faults) == 0 {
		*g = grounded{}
		return v
	}
	same := slices.EqualFunc(g.said, v.Faults, func(a, b correlator.Fault) bool {
		return a.Layer == b.Layer && a.Mechanism == b.Mechanism && slices.Equal(a.Evidence, b.Evidence)
	})
	if !same {
		g.said = v.Faults
		v = correlator.Ground(c, rules, v)
		g.stands = v.Faults
		return v
	}
	v.Faults = slices.Clone(v.Faults)
	for i := range v.Faults {
		v.Faults[i].Evidence = g.stands[i].Evidence
	}
	return v
}
