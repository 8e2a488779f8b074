package correlator

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Durations knows what steps really took. Implementations are safe to ask while a dataset is judged.
type Durations interface {
	// P99 is what 99 of 100 known cases of a step (see Obligation) took at most, and of how many. n is 0 where
	// nothing is known of it.
	P99(step string) (took time.Duration, n int)
}

// Lately is how far back a duration store looks: four weeks, so that every day of the week counts, and what a platform took
// before its last few releases does not.
const Lately = 28 * 24 * time.Hour

// enough is how many finished steps make a percentile worth more than the profile's budget.
const enough = 30

// learnt is the budget by history: twice what 99 of 100 took, because what is slow once in a hundred times is
// no fault, and never below ten seconds. ok is false where too little is known.
func learnt(d Durations, step string) (budget time.Duration, ok bool) {
	if d == nil {
		return 0, false
	}
	took, n := d.P99(step)
	if n < enough {
		return 0, false
	}
	return max(2*took, 10*time.Second), true
}

// Learnt are durations in memory, by step. The zero value is empty. It is not safe to Add while it is asked.
type Learnt struct {
	by     map[string][]time.Duration
	sorted bool
}

// Add files how long one step took.
func (l *Learnt) Add(step string, took time.Duration) {
	if took < 0 {
		return // two clocks
	}
	if l.by == nil {
		l.by = map[string][]time.Duration{}
	}
	l.by[step] = append(l.by[step], took)
	l.sorted = false
}

// P99 implements Durations.
func (l *Learnt) P99(step string) (time.Duration, int) {
	if !l.sorted {
		for _, list := range l.by {
			slices.Sort(list)
		}
		l.sorted = true
	}
	list := l.by[step]
	if len(list) == 0 {
		return 0, 0
	}
	return list[(99*len(list)+99)/100-1], len(list)
}

func stepOf(step, kind string) string {
	if kind == "" {
		return step
	}
	return step + ":" + kind
}

// CompletedStep is one step of one allocation that came to its proper end.
type CompletedStep struct {
	Step       string // as Obligation names it
	Allocation string
	Part       string // the task's claim, the job, the outbox record, or the state: what tells two of one step apart
	Took       time.Duration
	Ended      int64 // Unix nanoseconds
}

// witnessed is how far a time that a record claims may lie from the time at which it arrived, to teach what a step takes.
// Nobody saw how long a step took whose records came out of a queue hours later, or claim a time of another year: a lifecycle
// that is imported, or told by a clock gone wild, would say for four weeks what is late.
const witnessed = int64(15 * time.Minute)

// timely says whether a record arrived about when it claims to have happened: at the store, or, where none has it, at
// whoever observed it. One that was placed elsewhere than it claims has no time to be learnt from.
func timely(e *Event) bool {
	arrived := e.Ingested
	if arrived == 0 {
		arrived = e.Observed
	}
	return e.At == e.Time && e.At >= arrived-witnessed && e.At <= arrived+witnessed
}

// CompletedSteps lists the steps of an allocation that came to their proper end, and whose ends arrived when they say that
// they happened: what failed teaches nothing of how long it takes to succeed.
func (c *Case) CompletedSteps() []CompletedStep {
	l := &c.Lifecycle
	var out []CompletedStep
	add := func(step, part string, from, to *Event) {
		if from.At <= to.At && timely(from) && timely(to) { // else it is two clocks, or a clock that nobody has
			out = append(out, CompletedStep{step, c.ID, part, time.Duration(to.At - from.At), to.At})
		}
	}
	for _, a := range l.Tasks {
		part := a.Task + "/" + a.Claim
		if a.Queued != nil && a.Taken != nil {
			add(stepOf(stepClaim, a.Type), part, a.Queued, a.Taken)
		}
		if a.Taken != nil && a.Over != nil && a.Over.To() == semconv.Succeeded {
			add(stepOf(stepRun, a.Type), part, a.Taken, a.Over)
		}
	}
	for _, j := range l.Jobs {
		if last := j.Last(); strings.EqualFold(last.To, "succeeded") {
			add(stepOf(stepJob, j.Operation), j.ID, j.Changes[0].Event, last.Event)
		}
	}
	for _, o := range l.Outbox {
		if last := o.Last(); last.To == semconv.Published && o.Changes[0].To == semconv.Pending {
			add(stepPublish, o.ID, o.Changes[0].Event, last.Event)
		}
	}
	for i, s := range l.States[:max(0, len(l.States)-1)] {
		if next := l.States[i+1]; next.To != semconv.Failed && next.To != semconv.ReleaseFailed && next.To != s.To {
			add(stepOf(stepState, s.To), s.Event.Key, s.Event, next.Event)
		}
	}
	return out
}
