package correlator

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Durations knows what steps really took. Implementations are safe to ask while a gathering is judged.
type Durations interface {
	// P99 is what 99 of 100 known cases of a step (see Expectations) took at most, and of how many. n is 0 where
	// nothing is known of it.
	P99(step string) (took time.Duration, n int)
}

// Finished is one step of one allocation that came to its proper end.
type Finished struct {
	Step       string // as Expectations name it
	Allocation string
	Part       string // the task's claim, the job, the outbox record, or the state: what tells two of one step apart
	Took       time.Duration
	Ended      int64 // Unix nanoseconds
}

// Diary keeps what steps took, across allocations and restarts.
type Diary interface {
	// File keeps finished steps. One that is filed twice counts once.
	File(ctx context.Context, steps []Finished) error
	// Took gives what steps took lately, by what had ended at a time; 0 is now.
	Took(ctx context.Context, asOf int64) (Durations, error)
}

// Lately is how far back a diary looks: four weeks, so that every day of the week counts, and what a platform took
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

// finished lists the steps of an allocation that came to their proper end: what failed teaches nothing of how long
// it takes to succeed.
func (l *Lifecycle) finished(allocation string) []Finished {
	var out []Finished
	add := func(step, part string, from, to int64) {
		if from <= to { // else it is two clocks
			out = append(out, Finished{step, allocation, part, time.Duration(to - from), to})
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

func stepOf(step, kind string) string {
	if kind == "" {
		return step
	}
	return step + ":" + kind
}
