package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Bounds of a working set.
type Bounds struct {
	// Own bounds the records of one allocation: beyond it, only lifecycle events and failures are kept, and
	// beyond twice as many nothing.
	Own int
	// Total bounds the records of all; the allocation that was not heard of for longest is dropped first.
	Total int
	// Unclaimed bounds the records that are not attributed yet, Context those that may be cited by any case,
	// Lines what is kept of one node's own words.
	Unclaimed, Context, Lines int
	// Subjects bounds the identities that are remembered.
	Subjects int
	// Mine says whether an allocation is judged here; nil: all are. Records of others teach who
	// belongs to whom and are not kept.
	Mine func(allocation string) bool
}

// DefaultBounds take about 1 GB at most.
func DefaultBounds() Bounds {
	return Bounds{Own: 10_000, Total: 500_000, Unclaimed: 20_000, Context: 2_000, Lines: 40, Subjects: 1_000_000}
}

func without(list []*correlator.Event, e *correlator.Event) []*correlator.Event {
	if i := slices.Index(list, e); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// bound drops what lies beyond the bounds.
func (w *WorkingSet) bound() {
	w.boundUnattributed()
	if len(w.events) <= w.bounds.Total {
		return
	}
	ids := make([]string, 0, len(w.entries))
	for id := range w.entries {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(w.entries[a].heard, w.entries[b].heard) })
	for _, id := range ids {
		if len(w.events) <= w.bounds.Total*9/10 {
			return
		}
		w.Drop(id)
	}
}

func (w *WorkingSet) boundUnattributed() {
	if over := len(w.unclaimed) - w.bounds.Unclaimed; over > 0 {
		for _, e := range w.unclaimed[:over] {
			delete(w.events, e.Key)
		}
		w.unclaimed = slices.Delete(w.unclaimed, 0, over)
	}
	if len(w.context) > w.bounds.Context {
		slices.SortFunc(w.context, correlator.CompareEvents)
		dropped := w.context[:len(w.context)-w.bounds.Context*3/4]
		oldest := w.context[len(dropped)].At / int64(time.Minute)
		rollouts := slices.DeleteFunc(slices.Clone(dropped), func(e *correlator.Event) bool {
			return !e.Is(semconv.EventDeploy) || e.At < w.now-changeMargin
		})
		rollouts = rollouts[max(0, len(rollouts)-w.bounds.Context/4):] // few, and asked for late
		w.context = append(rollouts, w.context[len(dropped):]...)
		for b := range w.heartbeats {
			if b.minute < oldest {
				delete(w.heartbeats, b)
			}
		}
	}
	w.ordinary.bound(w.now)
	w.answers.bound(w.now)
	for node, list := range w.nodeLines {
		if len(list) == 0 { // whose all of it was is known since
			delete(w.nodeLines, node)
			continue
		}
		switch long, heard := w.now-complaintMargin-contextMargin, list[len(list)-1].Observed; {
		case len(list) > lastWords && heard < long && newest(list) < long:
			slices.SortFunc(list, correlator.CompareEvents)
			last := lastWordsFrom(list) // it may be long before anybody asks when a machine was last heard of
			list = slices.DeleteFunc(list, func(e *correlator.Event) bool {
				return !e.TellsOfFailure() && e.At < last || e.Observed < w.now-changeMargin
			})
		case heard < w.now-changeMargin:
			list = slices.DeleteFunc(list, func(e *correlator.Event) bool { return e.Observed < w.now-changeMargin })
		}
		if len(list) > w.bounds.Lines {
			list = slices.Clone(list[len(list)-w.bounds.Lines/2:])
		}
		if w.nodeLines[node] = list; len(list) == 0 {
			delete(w.nodeLines, node)
		}
	}
}

// newest is when the last of what is here was observed: records come in any order.
func newest(list []*correlator.Event) (at int64) {
	for _, e := range list {
		at = max(at, e.Observed)
	}
	return at
}

// lastWords is how many lines are kept of a machine that is silent, whatever they say, signs of life not counted.
const lastWords = 4

// lastWordsFrom is when the last few lines of a list begin, which is in order of time.
func lastWordsFrom(list []*correlator.Event) int64 {
	words := 0
	for _, e := range slices.Backward(list) {
		if !e.Is(semconv.EventHeartbeat) {
			words++
		}
		if words == lastWords {
			return e.At
		}
	}
	return list[0].At
}

// Drop lets go of an allocation.
func (w *WorkingSet) Drop(allocation string) {
	f := w.entries[allocation]
	if f == nil {
		return
	}
	for _, e := range f.events {
		delete(w.events, e.Key)
		node := strings.ToLower(e.Node)
		if served := w.allocations[node]; served != nil {
			if delete(served, allocation); len(served) == 0 {
				delete(w.allocations, node)
			}
		}
	}
	delete(w.entries, allocation)
	delete(w.touched, allocation)
}

// Size counts what is held.
func (w *WorkingSet) Size() (allocations, records int) { return len(w.entries), len(w.events) }
