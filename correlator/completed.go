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

// CompletedSteps lists the steps of an allocation that came to their proper end: what failed teaches nothing of how long
// it takes to succeed.
func (c *Case) CompletedSteps() []CompletedStep {
	l := &c.Lifecycle
	var out []CompletedStep
	add := func(step, part string, from, to int64) {
		if from <= to { // else it is two clocks
			out = append(out, CompletedStep{step, c.ID, part, time.Duration(to - from), to})
		}
	}
	for _, a := range l.Tasks {
		part := a.Task + "/" + a.Claim
		if a.Queued != nil && a.Taken != nil {
			add(stepOf(stepClaim, a.Type), part, a.Queued.At, a.Taken.At)
		}
		if a.Taken != nil && a.Over != nil && a.Over.To() == semconv.Succeeded {
			add(stepOf(stepRun, a.Type), part, a.Taken.At, a.Over.At)
		}
	}
	for _, j := range l.Jobs {
		if last := j.Last(); strings.EqualFold(last.To, "succeeded") {
			add(stepOf(stepJob, j.Operation), j.ID, j.Changes[0].At, last.At)
		}
	}
	for _, o := range l.Outbox {
		if last := o.Last(); last.To == semconv.Published && o.Changes[0].To == semconv.Pending {
			add(stepPublish, o.ID, o.Changes[0].At, last.At)
		}
	}
	for i, s := range l.States[:max(0, len(l.States)-1)] {
		if next := l.States[i+1]; next.To != semconv.Failed && next.To != semconv.ReleaseFailed && next.To != s.To {
			add(stepOf(stepState, s.To), s.Event.Ref, s.At, next.At)
		}
	}
	return out
}
