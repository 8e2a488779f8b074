package correlator

import (
	"slices"
	"time"
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
