package query

import (
	"cmp"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// Moment is when a source wrote a record.
type Moment struct {
	Time   int64 // Unix nanoseconds
	Source string
}

// Stretch is a part of time, To excluded, and who wrote in it.
type Stretch struct {
	From    correlator.Time `json:"from"`
	To      correlator.Time `json:"to"`
	Sources []string        `json:"sources"`
}

// Stretches are what has to be looked through for all moments, in order of time: from the first to the last, without the widest pauses.
// Pauses shorter than apart stay, and there are at most most stretches, one at least.
func Stretches(moments []Moment, apart time.Duration, most int) []Stretch {
	sorted := slices.SortedFunc(slices.Values(moments), func(a, b Moment) int { return cmp.Compare(a.Time, b.Time) })
	if len(sorted) == 0 {
		return nil
	}
	apart = max(apart, 1) // one moment is never cut
	var pauses []int      // a pause lies before the moment of that index
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Time-sorted[i-1].Time >= int64(apart) {
			pauses = append(pauses, i)
		}
	}
	width := func(i int) int64 { return sorted[i].Time - sorted[i-1].Time }
	slices.SortStableFunc(pauses, func(a, b int) int { return cmp.Compare(width(b), width(a)) })
	cuts := append([]int{0}, pauses[:max(0, min(len(pauses), most-1))]...)
	slices.Sort(cuts)
	out := make([]Stretch, 0, len(cuts))
	for i, from := range cuts {
		to := len(sorted)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		one := Stretch{From: correlator.Time(sorted[from].Time), To: correlator.Time(sorted[to-1].Time + 1)}
		for _, m := range sorted[from:to] {
			one.Sources = append(one.Sources, m.Source)
		}
		slices.Sort(one.Sources)
		one.Sources = slices.Compact(one.Sources)
		out = append(out, one)
	}
	return out
}
