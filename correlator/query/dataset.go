package query

import (
	"cmp"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
)

// Analyze judges every allocation of a dataset. The answer is the same for every order of its records.
func Analyze(d *correlator.Dataset, rules []correlator.Rule) correlator.Answer {
	a := correlator.Answer{Allocations: []correlator.Allocation{}, Orphans: []correlator.Orphan{}, Stats: d.Stats}
	cases := d.Cases()
	for i, one := range assess(cases, rules) {
		a.Allocations = append(a.Allocations, cases[i].WithTimeline(one.Verdict))
		a.Orphans = append(a.Orphans, one.Orphans...)
	}
	slices.SortFunc(a.Orphans, func(x, y correlator.Orphan) int {
		return cmp.Or(cmp.Compare(x.AllocationID, y.AllocationID), cmp.Compare(x.ResourceUID, y.ResourceUID))
	})
	return a
}

// Assess gives the assessments of every allocation of a dataset, in order of their ids.
func Assess(d *correlator.Dataset, rules []correlator.Rule) []correlator.Assessment {
	return assess(d.Cases(), rules)
}

// assess judges cases, each among the others.
func assess(cases []*correlator.Case, rules []correlator.Rule) []correlator.Assessment {
	out, faults := make([]correlator.Assessment, len(cases)), incident.NewFaultIndex()
	for i, c := range cases {
		out[i] = correlator.NewAssessment(c, correlator.Judge(c, rules))
		out[i].Verdict = correlator.Ground(c, rules, out[i].Verdict)
		faults.Add(&out[i])
	}
	passages := incident.NewPassages()
	for i, c := range cases {
		out[i], _ = faults.ApplyBlastRadius(out[i], c.Profile)
		passages.Add(&out[i])
	}
	for i := range out {
		out[i] = passages.Gone(out[i])
		out[i].Passages = nil
	}
	return out
}
