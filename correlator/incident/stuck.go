package incident

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/profile"
)

// StuckList answers "what is stuck, and whose move is it".
type StuckList struct {
	AsOf        correlator.Time     `json:"as_of"`
	Examined    int                 `json:"examined"` // allocations that were looked at
	Allocations []StuckAllocation   `json:"allocations"`
	Orphans     []correlator.Orphan `json:"orphans"`
}

// StuckAllocation is one line of that list.
type StuckAllocation struct {
	ID    string           `json:"allocation_id"`
	State *string          `json:"state"`
	Since *correlator.Time `json:"since"`
	correlator.Stuck
	OverdueSeconds int64 `json:"overdue_seconds"` // at the list's as_of
	// Layer is whose trouble it is: the layer of the verdict's strongest open fault, else the one that
	// owes the next move. Cause is that fault as layer.mechanism, "" where nothing is attributed.
	Layer      string        `json:"layer"`
	LayerOwner profile.Owner `json:"layer_owner"`
	Cause      string        `json:"cause"`
	Outcome    string        `json:"outcome"`
}

// ListStuck lists what is stuck at a time, by owner, the longest overdue first. Assessments may come in any
// order.
func ListStuck(assessments []correlator.Assessment, now int64) StuckList {
	list := StuckList{AsOf: correlator.Time(now), Examined: len(assessments), Allocations: []StuckAllocation{}, Orphans: []correlator.Orphan{}}
	for _, s := range assessments {
		list.Orphans = append(list.Orphans, s.Orphans...)
		if s.Stuck == nil {
			continue
		}
		one := StuckAllocation{
			ID: s.ID, State: s.State, Since: s.Since, Stuck: *s.Stuck, OverdueSeconds: (now - int64(s.Stuck.Deadline)) / int64(time.Second),
			Layer: s.Stuck.Owes, LayerOwner: s.Stuck.Owner, Outcome: s.Verdict.Outcome,
		}
		for _, f := range s.Verdict.Faults {
			if f.ClearedAt == nil && s.Verdict.Outcome == correlator.Attributed {
				one.Layer, one.LayerOwner, one.Cause = f.Layer, f.Owner, f.Layer+"."+f.Mechanism
				break
			}
		}
		list.Allocations = append(list.Allocations, one)
	}
	slices.SortFunc(list.Orphans, func(a, b correlator.Orphan) int {
		return cmp.Or(strings.Compare(a.AllocationID, b.AllocationID), strings.Compare(a.ResourceUID, b.ResourceUID))
	})
	slices.SortFunc(list.Allocations, func(a, b StuckAllocation) int {
		return cmp.Or(strings.Compare(a.Layer, b.Layer), cmp.Compare(b.OverdueSeconds, a.OverdueSeconds), strings.Compare(a.ID, b.ID))
	})
	return list
}
