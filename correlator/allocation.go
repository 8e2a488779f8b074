package correlator

import (
	"cmp"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// wiped is a node instance that another one took the place of, and what was last read of its logs.
type wiped struct {
	node, instance string
	boots          map[string]bool // that the node instance is known to have run in
	heard          *Event          // nil: nothing ever
	at             int64           // when the other one took its place
}

// worthMention is a silence before the end of a node instance that may hide something.
const worthMention = int64(time.Second)

// wipes finds node instances that ended while their node was the allocation's. What they wrote after their
// last line that is here went with their disk, and nobody will ever read it.
func (c *Case) wipes() []wiped {
	var out []wiped
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventNodeInstance}).own {
		if e.To() != semconv.Superseded && e.To() != semconv.Lost {
			continue
		}
		w := wiped{node: e.Node, instance: e.Own(identity.NodeInstance), boots: map[string]bool{}, at: e.At}
		// Its last records may arrive when the other instance is there already; they have no allocation then.
		all := slices.Concat(c.Events, c.UnattributedBetween(w.at, w.at+int64(time.Minute)))
		for _, said := range all {
			if boot := said.Own(identity.Boot); boot != "" && said.Own(identity.NodeInstance) == w.instance {
				w.boots[boot] = true
			}
		}
		for _, line := range all {
			if w.wrote(line) && (w.heard == nil || line.At > w.heard.At) {
				w.heard = line
			}
		}
		if w.heard == nil || w.at-w.heard.At > worthMention {
			out = append(out, w)
		}
	}
	return out
}

// wrote says whether a record is a line of the node instance's: by its own word, or, where logs don't know what
// node instance they are of, from its node while it was there, and in a boot of its own: the next one boots
// before it enrols.
func (w wiped) wrote(e *Event) bool {
	if e.Signal != record.Log || e.IsEvent() || e.Node != w.node || e.Layer != semconv.LayerNode && e.Layer != semconv.LayerNodeAgent {
		return false
	}
	by := e.Own(identity.NodeInstance)
	boot := e.Own(identity.Boot)
	return by == w.instance || by == "" && e.At < w.at && (boot == "" || w.boots[boot])
}

// gap is the place in a timeline where its lines would stand.
func (w wiped) gap() Entry {
	from, what := w.at, "nothing was ever read of the logs of node instance "+w.instance+" on "+w.node
	if w.heard != nil {
		from, what = w.heard.At, "nothing was read of the logs of node instance "+w.instance+" on "+w.node+" "+clockRange(w.heard.At, w.at)
	}
	return Entry{
		Time: Time(from), Observed: Time(w.at), Layer: semconv.LayerNode, Kind: "gap",
		Summary: what + ", when another took its place: what it had not sent is gone",
		IDs:     map[string]string{semconv.NodeID: w.node, semconv.NodeInstanceID: w.instance},
	}
}

// WithTimeline puts the timeline and the state beside a verdict.
func (c *Case) WithTimeline(v Verdict) Allocation {
	out := Allocation{ID: c.ID, Verdict: v}
	if state, since, ok := c.Lifecycle.State(); ok {
		at := Time(since)
		out.State, out.Since = &state, &at
	}
	shown, gaps := c.shown(v)
	out.Timeline = lay(shown, gaps, c.ID)
	return out
}

// shown are the events of the timeline beside a verdict, in its order: the allocation's own, and whatever else is cited;
// and what was owed and did not come.
func (c *Case) shown(v Verdict) (all []*Event, gaps []Entry) {
	cited := map[string]bool{}
	for _, f := range v.Faults {
		for _, list := range [][]string{f.Evidence, f.Symptoms, f.Contradicting} {
			for _, ref := range list {
				cited[ref] = true
			}
		}
	}
	all = slices.Clone(c.Events)
	for _, e := range c.Unattributed {
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
	return all, c.gaps()
}

// lay puts events, in order, and gaps into the timeline of an allocation.
func lay(all []*Event, gaps []Entry, allocation string) []Entry {
	out := make([]Entry, 0, len(all)+len(gaps))
	for _, e := range all {
		for len(gaps) > 0 && int64(gaps[0].Time) <= e.At {
			out, gaps = append(out, gaps[0]), gaps[1:]
		}
		via := e.Via
		if e.Allocation != allocation {
			via = identity.Context
		}
		out = append(out, e.timelineEntry(via))
	}
	return append(out, gaps...)
}

// gaps draws what was owed and did not come, at the time by which it should have, the layers that said
// nothing where their word would have decided, and logs that went with a node's disk: absence is evidence and
// has to be seen.
func (c *Case) gaps() []Entry {
	var out []Entry
	gap := func(at int64, layer, summary string) {
		out = append(out, Entry{Time: Time(at), Observed: Time(at), Layer: layer, Kind: "gap", Summary: summary, IDs: map[string]string{}})
	}
	for _, t := range c.Troubles() {
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
