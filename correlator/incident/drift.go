package incident

import (
	"cmp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
)

// DriftList answers "which views show something else than the truth".
type DriftList struct {
	AsOf     correlator.Time   `json:"as_of"`
	Examined int               `json:"examined"` // allocations that were looked at
	Drift    []DriftAllocation `json:"drift"`
}

// DriftAllocation is one view of one allocation.
type DriftAllocation struct {
	ID    string  `json:"allocation_id"`
	State *string `json:"state"`
	correlator.Drift
	Outcome string `json:"outcome"`
}

// ListDrift lists what views show wrong, the oldest first.
func ListDrift(assessments []correlator.Assessment, now int64) DriftList {
	list := DriftList{AsOf: correlator.Time(now), Examined: len(assessments), Drift: []DriftAllocation{}}
	for _, s := range assessments {
		for _, d := range s.Verdict.Drift {
			list.Drift = append(list.Drift, DriftAllocation{s.ID, s.State, d, s.Verdict.Outcome})
		}
	}
	slices.SortFunc(list.Drift, func(a, b DriftAllocation) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), strings.Compare(a.ID, b.ID), strings.Compare(a.Projection+"\x00"+a.Field, b.Projection+"\x00"+b.Field))
	})
	return list
}
