package correlator

import (
	"cmp"
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
)

// Analyze judges every allocation of a gathering. The answer is the same for every order of its
// records.
func (g *Gathering) Analyze(rules []Rule) Answer {
	a := Answer{Allocations: []Allocation{}, Orphans: []Orphan{}, Stats: g.Stats}
	cases := g.Cases()
	for i, s := range standings(cases, rules) {
		a.Allocations = append(a.Allocations, cases[i].told(s.Verdict))
	}
	a.Orphans = orphansOf(cases)
	return a
}

// Allocation is the joined story of a case with its verdict: the allocation's own records, and of those
// that belong to nobody the ones that the verdict cites.
func (c *Case) Allocation(rules []Rule) Allocation { return c.told(Judge(c, rules)) }

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
	for _, e := range c.borrowed {
		if cited[e.Ref] {
			all = append(all, e)
		}
	}
	if len(all) > len(c.Events) {
		all, _ = order(all)
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

// silence is a layer of which nothing was heard in [from, to].
type silence struct {
	layer    string
	from, to int64
}

// gaps draws what was owed and did not come, at the time by which it should have, the layers that said
// nothing where their word would have decided, and logs that went with a machine's disk: absence is evidence and
// has to be seen.
func (c *Case) gaps() []Entry {
	var out []Entry
	gap := func(at int64, layer, summary string) {
		out = append(out, Entry{Time: Time(at), Observed: Time(at), Layer: layer, Kind: "gap", Summary: summary, IDs: map[string]string{}})
	}
	for _, t := range c.Troubles {
		if t.Kind == OverdueTrouble || t.NeverTaken() {
			gap(t.At, t.Owes, "expected from "+firstOf(t.Owes, "somebody")+", not seen: "+t.What)
		}
	}
	for _, s := range c.silences {
		gap(s.from, s.layer, "nothing was heard of "+s.layer+" "+clockRange(s.from, s.to))
	}
	for _, w := range c.wipes() {
		out = append(out, w.gap())
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(a.Time, b.Time) })
	return out
}
