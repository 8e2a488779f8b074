package correlator

import (
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
)

// Analyze judges every allocation of a gathering. The answer is the same for every order of its
// records.
func (g *Gathering) Analyze(rules []Rule) Answer {
	a := Answer{Allocations: []Allocation{}, Orphans: []Orphan{}, Stats: g.Stats}
	cases := g.Cases()
	for _, c := range cases {
		a.Allocations = append(a.Allocations, c.Allocation(rules))
	}
	a.Orphans = orphansOf(cases)
	return a
}

// Allocation is the joined story of a case with its verdict: the allocation's own records, and of those
// that belong to nobody the ones that the verdict cites.
func (c *Case) Allocation(rules []Rule) Allocation { return c.told(Judge(c, rules)) }

// Explained is Allocation, and how its verdict came about.
func (c *Case) Explained(rules []Rule) (Allocation, Reasoning) {
	v, why := Explain(c, rules)
	return c.told(v), why
}

// told puts the timeline and the state beside a verdict.
func (c *Case) told(v Verdict) Allocation {
	out := Allocation{ID: c.ID, Timeline: []Entry{}, Verdict: v}
	if state, since, ok := c.Lifecycle.State(); ok {
		at := Time(since)
		out.State, out.Since = &state, &at
	}
	cited := map[string]bool{}
	for _, f := range out.Verdict.Faults {
		for _, list := range [][]string{f.Evidence, f.Symptoms, f.Contradicting} {
			for _, ref := range list {
				cited[ref] = true
			}
		}
	}
	all := slices.Clone(c.Events)
	for _, e := range c.Context {
		if len(cited) > 0 && cited[e.Ref] {
			all = append(all, e)
		}
	}
	if len(all) > len(c.Events) {
		all = order(all)
	}
	gaps := c.gaps()
	for _, e := range all {
		for len(gaps) > 0 && int64(gaps[0].Time) <= e.At {
			out.Timeline, gaps = append(out.Timeline, gaps[0]), gaps[1:]
		}
		via := e.Via
		if e.Allocation != c.ID {
			via = identity.Context
		}
		out.Timeline = append(out.Timeline, e.entry(via))
	}
	out.Timeline = append(out.Timeline, gaps...)
	return out
}

// gaps draws what was owed and did not come, at the time by which it should have: absence is evidence
// and has to be seen.
func (c *Case) gaps() []Entry {
	var out []Entry
	for _, t := range c.Troubles {
		if t.Kind != OverdueTrouble && !t.NeverTaken() {
			continue
		}
		owes := firstOf(t.Owes, "somebody")
		out = append(out, Entry{
			Time: Time(t.At), Observed: Time(t.At), Layer: t.Owes, Kind: "gap", Name: "", Summary: "expected from " + owes + ", not seen: " + t.What, IDs: map[string]string{},
		})
	}
	return out
}
