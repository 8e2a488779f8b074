package score

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The outcomes of a verdict (docs/contract.md §6).
const (
	none         = "none"
	attributed   = "attributed"
	undetermined = "undetermined"
)

// Result is how one fault was judged.
type Result struct {
	Fault     string        `json:"fault"`
	Expected  string        `json:"expected"` // layer/mechanism, or undetermined
	Affected  int           `json:"affected"` // allocations that it cost something
	Right     int           `json:"right"`    // of these
	Exact     int           `json:"exact"`    // of these, with the mechanism
	Slowest   time.Duration `json:"slowest"`  // from visible to right
	Grazed    int           `json:"grazed"`   // that met it and lost nothing
	Healthy   int           `json:"healthy"`  // that did not meet it
	Alarms    int           `json:"false_alarms"`
	Disturbed int           `json:"disturbed"` // that met no fault, and to whom something happened all the same
	Detours   []string      `json:"detours"`   // owners that were named before the right one
	Misses    []string      `json:"misses"`    // in words; empty is a pass
	Lasted    time.Duration `json:"lasted"`    // for how long it was on
	Examples  []string      `json:"examples"`  // an allocation of each kind of miss
}

// OK says whether everything was as it must be.
func (r Result) OK() bool { return len(r.Misses) == 0 }

// is says whether a ruling is the right one: the owner is named and nobody else.
func (w *watch) is(r Ruling) bool {
	if w.fault.Expected != attributed {
		return r.Outcome == w.fault.Expected
	}
	return r.Outcome == attributed && len(r.Blames) > 0 && !slices.ContainsFunc(r.Blames, func(b string) bool { return !w.owns(b) })
}

// owns says whether what a verdict names is of the fault's layer.
func (w *watch) owns(blame string) bool { return strings.HasPrefix(blame, w.fault.Layer+"/") }

// exact says whether the mechanism is named as well.
func (w *watch) exact(r Ruling) bool { return slices.Contains(r.Blames, w.owner()) }

func (w *watch) result(ctx context.Context) (Result, error) {
	r := Result{Fault: w.fault.Name, Expected: w.owner(), Detours: []string{}, Misses: []string{}, Examples: []string{}, Lasted: w.healed.Sub(w.since)}
	if w.fault.Expected != attributed {
		r.Expected = w.fault.Expected
	}
	misses := map[string]int{}
	miss := func(id, format string, args ...any) {
		words := fmt.Sprintf(format, args...)
		if misses[words]++; misses[words] == 1 && id != "" {
			r.Examples = append(r.Examples, id)
		}
	}
	for id, v := range w.seen {
		for _, b := range v.wrong {
			if !slices.Contains(r.Detours, b) {
				r.Detours = append(r.Detours, b)
			}
		}
		if v.life.Faults != 1 {
			continue
		}
		if !v.life.Cost {
			r.Grazed++
			if v.last.Outcome != none && v.last.Outcome != "" && !w.is(v.last) { // of one that has just begun nothing is said
				miss(id, "met it, lost nothing, and is said to be %s", say(v.last))
			}
			continue
		}
		short, err := w.tooShort(ctx, id, v)
		if err != nil {
			return r, err
		}
		if short {
			r.Grazed++
			continue
		}
		r.Affected++
		if err := w.affected(ctx, id, v, &r, miss); err != nil {
			return r, err
		}
	}
	var err error
	if r.Slowest, err = w.slowest(ctx); err != nil {
		return r, err
	}
	if r.Affected == 0 {
		miss("", "it cost no allocation anything")
	}
	if err := w.bystanders(ctx, &r, miss); err != nil {
		return r, err
	}
	for words, n := range misses {
		r.Misses = append(r.Misses, fmt.Sprintf("%d × %s", n, words))
	}
	slices.Sort(r.Detours)
	slices.Sort(r.Misses)
	return r, nil
}

// tooShort says whether the fault was healed before anybody had the time to judge what it did to an allocation, which
// then ended as it should and was never blamed on anybody.
func (w *watch) tooShort(ctx context.Context, id string, v *watched) (bool, error) {
	if !v.right.IsZero() || v.last.Outcome != none || len(v.wrong) > 0 || !v.life.AsWritten || !v.life.Ended.After(w.healed) {
		return false, nil
	}
	visible, err := w.visible(ctx, id, v)
	return w.healed.Sub(visible) < Limit, err
}

// visible is when the fault began to show at an allocation: its first failure record or the lapse of what was owed, else
// the time at which the lab knew that it cost something, as where a view merely stands still. A judge may have to read
// a whole story for it: it is asked once, and only of those of whom it decides something. Where the judge does not answer, it is
// the earliest time that it can have been.
func (w *watch) visible(ctx context.Context, id string, v *watched) (time.Time, error) {
	if !v.visible.IsZero() {
		return v.visible, nil
	}
	trouble, err := w.stage.Judge.Trouble(ctx, id)
	switch v.visible = v.paid; {
	case ctx.Err() != nil:
		return time.Time{}, fmt.Errorf("read the trouble of %s: %w", id, err)
	case err != nil:
		if v.visible = w.since; v.life.Began.After(w.since) {
			v.visible = v.life.Began
		}
	}
	if i := slices.IndexFunc(trouble, func(t time.Time) bool { return t.After(w.since) }); i >= 0 {
		v.visible = trouble[i]
	}
	return v.visible, nil
}

// atMost is how long it can have taken at most until an allocation was judged right: nothing was visible before the fault
// was there, nor before the allocation was.
func (w *watch) atMost(v *watched) time.Duration {
	if v.life.Began.After(w.since) {
		return v.right.Sub(v.life.Began)
	}
	return v.right.Sub(w.since)
}

// slowest is the longest time from visible to right. Those that may have taken longest are looked at first, until none that
// is left can have taken longer.
func (w *watch) slowest(ctx context.Context) (longest time.Duration, err error) {
	var judged []string
	for id, v := range w.seen {
		if v.life.Faults == 1 && v.life.Cost && !v.right.IsZero() {
			judged = append(judged, id)
		}
	}
	slices.SortFunc(judged, func(a, b string) int {
		return cmp.Or(cmp.Compare(w.atMost(w.seen[b]), w.atMost(w.seen[a])), cmp.Compare(a, b))
	})
	for _, id := range judged {
		v := w.seen[id]
		if w.atMost(v) <= longest {
			break
		}
		visible, err := w.visible(ctx, id, v)
		if err != nil {
			return longest, err
		}
		longest = max(longest, v.right.Sub(visible))
	}
	return longest, nil
}

// affected scores one allocation that the fault cost something: its owner was named in time, and nobody else is
// named in the end. What was made good altogether may be forgotten.
func (w *watch) affected(ctx context.Context, id string, v *watched, r *Result, miss func(string, string, ...any)) error {
	if v.right.IsZero() {
		miss(id, "is said to be %s", say(v.last))
		return nil
	}
	took := w.atMost(v)
	if took > Limit {
		visible, err := w.visible(ctx, id, v)
		if err != nil {
			return err
		}
		took = v.right.Sub(visible)
	}
	switch {
	case took > Limit:
		miss(id, "was judged right later than %s after it was visible", Limit)
	case w.is(v.last), v.last.Outcome == none && v.life.AsWritten:
		r.Right++
		if v.exact || w.fault.Expected != attributed {
			r.Exact++
		}
	default:
		miss(id, "was judged right, and in the end is said to be %s", say(v.last))
	}
	return nil
}

// bystanders looks at those that met no fault and were there meanwhile: nothing must ever have been said of them.
func (w *watch) bystanders(ctx context.Context, r *Result, miss func(string, string, ...any)) error {
	lives, err := w.stage.Remote.Lives(ctx)
	if err != nil {
		return err
	}
	for _, v := range lives {
		if v.Told || v.Faults > 0 || !v.Ended.IsZero() && v.Ended.Before(w.began) {
			continue
		}
		if v.Late || v.Failed > 0 || !v.Ended.IsZero() && !v.AsWritten { // a machine that is too slow for its lab
			r.Disturbed++
			continue
		}
		said, err := w.stage.Judge.Alarms(ctx, v.AllocationID)
		if err != nil {
			return fmt.Errorf("judge %s: %w", v.AllocationID, err)
		}
		if len(said) == 0 {
			r.Healthy++
			continue
		}
		actions, err := w.stage.Judge.TaskActions(ctx, v.AllocationID)
		if err != nil {
			return fmt.Errorf("read the tasks of %s: %w", v.AllocationID, err)
		}
		if late, ok := belated(actions); ok && late.sensible(said) {
			r.Disturbed++
			continue
		}
		r.Healthy++
		r.Alarms++
		words := make([]string, len(said))
		for i := range said {
			words[i] = say(said[i])
		}
		miss(v.AllocationID, "met no fault (%s) and was said to be %s", v.Story, strings.Join(words, ", then "))
	}
	return nil
}

func say(r Ruling) string {
	if r.Outcome == "" {
		return "nothing at all"
	}
	return strings.TrimSpace(r.Outcome + " " + strings.Join(r.Blames, " and "))
}
