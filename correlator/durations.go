package correlator

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Durations knows what steps really took. Implementations are safe to ask while a gathering is judged.
type Durations interface {
	// Percentile gives how long a step (see Expectations) took at most in a share p of the known cases, 0 < p ≤ 1,
	// and of how many. n is 0 where nothing is known of it.
	Percentile(step string, p float64) (took time.Duration, n int)
}

// enough is how many finished steps make a percentile worth more than the profile's budget.
const enough = 30

// learnt is the budget by history: twice what 99 of 100 took, because what is slow once in a hundred times is
// no fault, and never below ten seconds. ok is false where too little is known.
func learnt(d Durations, step string) (budget time.Duration, ok bool) {
	if d == nil {
		return 0, false
	}
	took, n := d.Percentile(step, 0.99)
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

// Percentile implements Durations.
func (l *Learnt) Percentile(step string, p float64) (time.Duration, int) {
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
	i := min(len(list)-1, max(0, int(p*float64(len(list))+0.999999)-1))
	return list[i], len(list)
}

// learn files the finished steps of an allocation.
func (l *Learnt) learn(life *Lifecycle) {
	for _, a := range life.Tasks {
		if a.Queued != nil && a.Taken != nil {
			l.Add(stepOf(stepClaim, a.Type), time.Duration(a.Taken.At-a.Queued.At))
		}
		if a.Taken != nil && a.Over != nil && a.Over.To() == semconv.Succeeded {
			l.Add(stepOf(stepRun, a.Type), time.Duration(a.Over.At-a.Taken.At))
		}
	}
	for _, j := range life.Jobs {
		if last := j.Last(); strings.EqualFold(last.To, "succeeded") {
			l.Add(stepOf(stepJob, j.Operation), time.Duration(last.At-j.Changes[0].At))
		}
	}
	for _, o := range life.Outbox {
		if last := o.Last(); last.To == semconv.Published && o.Changes[0].To == semconv.Pending {
			l.Add(stepPublish, time.Duration(last.At-o.Changes[0].At))
		}
	}
	for i, s := range life.States[:max(0, len(life.States)-1)] {
		if next := life.States[i+1]; next.To != semconv.Failed && next.To != semconv.ReleaseFailed && next.To != s.To {
			l.Add(stepOf(stepState, s.To), time.Duration(next.At-s.At))
		}
	}
}

func stepOf(step, kind string) string {
	if kind == "" {
		return step
	}
	return step + ":" + kind
}
