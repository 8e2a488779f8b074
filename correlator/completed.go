package correlator

import (
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

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
