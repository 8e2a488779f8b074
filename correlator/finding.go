package correlator

import (
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// findings lists what should be known and is no fault by itself.
func findings(c *Case) []Finding {
	out := []Finding{}
	state := ""
	for _, s := range c.Lifecycle.States {
		from := s.From
		if from != "" && !semconv.LegalMove(from, s.To) {
			out = append(out, Finding{Kind: "illegal_transition", Summary: "allocation moved " + from + " → " + s.To, Refs: []string{s.Event.Ref}})
		} else if from != "" && state != "" && from != state && s.To != state {
			out = append(out, Finding{Kind: "gap", Summary: "a step was not seen: " + state + " … " + from, Refs: []string{s.Event.Ref}})
		}
		state = s.To
	}
	for _, e := range c.Events {
		for _, k := range e.Conflicts {
			out = append(out, Finding{Kind: "identity_conflict", Summary: k.Winner.Kind.String() + " says " + k.Allocation + ", " + k.Loser.Kind.String() + " says " + k.Disagreeing, Refs: []string{e.Ref}})
		}
		if e.BeforeInstance {
			out = append(out, Finding{Kind: "clock", Summary: "stamped " + Time(e.Time).Milli() + ", before its own node instance existed; placed by when it was seen", Refs: []string{e.Ref}})
		} else if e.At != e.Time {
			out = append(out, Finding{Kind: "clock", Summary: "stamped " + Time(e.Time).Milli() + ", which nobody can have seen; placed by when it was seen", Refs: []string{e.Ref}})
		}
	}
	for _, node := range c.Lifecycle.Nodes {
		for _, o := range c.Index.OverlapsOf(node) {
			if o.Earlier != c.ID && o.Later != c.ID {
				continue
			}
			out = append(out, Finding{Kind: "overlap", Summary: "node " + node + " was assigned to " + o.Earlier + " and " + o.Later + " at once from " + Time(o.From).Milli(), Refs: c.assignmentsOf(node)})
		}
	}
	for _, o := range c.Orphans() {
		out = append(out, Finding{Kind: "orphan", Summary: join(firstOf(o.Kind, "resource"), o.ResourceUID, "was seen after the allocation was gone"), Refs: o.Evidence})
	}
	out = append(out, clockSkews(c)...)
	return append(out, broken(c)...)
}

func (c *Case) assignmentsOf(node string) []string {
	out := []string{}
	for _, e := range c.Events {
		if e.Signal == record.Log && (e.Is(semconv.EventNodeAssigned) || e.Is(semconv.EventNodeUnassigned)) && e.Node == node {
			out = append(out, e.Ref)
		}
	}
	return out
}
