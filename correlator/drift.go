package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// drifts lists the views whose newest look showed something else than the truth had been for longer
// than the view's grace. A value that the profile does not map is shown, never compared.
func drifts(c *Case) []Drift {
	newest := map[[2]string]*Event{}
	var keys [][2]string
	for _, e := range c.Events {
		if !e.Is(semconv.EventProjection) {
			continue
		}
		k := [2]string{e.Attr(semconv.Projection), e.Attr(semconv.Field)}
		if newest[k] == nil {
			keys = append(keys, k)
		}
		newest[k] = e
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1]) })
	out := []Drift{}
	for _, k := range keys {
		e := newest[k]
		truth, since := c.truth(k[1], e.At, e)
		shown := e.Attr(semconv.Value)
		if may, mapped := c.Profile.Stands(k[0], k[1], shown, truth); truth == "" || !mapped || may {
			continue
		}
		if e.At-since <= int64(c.Profile.Grace(k[0])) {
			continue
		}
		soon, _ := c.truth(k[1], e.At+2*skew, e)
		if may, _ := c.Profile.Stands(k[0], k[1], shown, soon); may {
			continue // a view cannot run ahead of the truth; two clocks can
		}
		out = append(out, Drift{Projection: k[0], Field: k[1], Shown: shown, Truth: truth, Since: Time(since)})
	}
	return out
}

// truth is what a field, as a view showed it, really was at a time, and since when.
func (c *Case) truth(field string, at int64, look *Event) (value string, since int64) {
	switch field {
	case "state":
		return c.Lifecycle.StateAt(at)
	case "job_state":
		job := look.Own(identity.ProviderJob)
		for _, j := range c.Lifecycle.Jobs {
			if job != "" && j.ID != job {
				continue
			}
			for _, change := range j.Changes {
				if change.At <= at && !strings.EqualFold(change.To, value) {
					value, since = change.To, change.At
				}
			}
		}
		return strings.ToLower(value), since
	case "occupancy":
		for _, e := range c.Events {
			if e.Is(semconv.EventNodeOccupancy) && e.At <= at && e.To() != value {
				value, since = e.To(), e.At
			}
		}
		return value, since
	}
	return "", 0
}

// driftFault makes the projection the owner where a view lags and nothing else explains why it, or the
// truth, could not move.
func (j *judgement) driftFault() {
	if len(j.v.Drift) == 0 || len(j.causes) > 0 || len(j.open) > 0 {
		return
	}
	for _, d := range j.v.Drift {
		var looks []*Event
		for _, e := range j.c.Events {
			if e.Is(semconv.EventProjection) && e.Attr(semconv.Projection) == d.Projection && e.Attr(semconv.Field) == d.Field && e.At >= int64(d.Since) {
				looks = append(looks, e)
			}
		}
		if len(looks) == 0 {
			continue
		}
		last := looks[len(looks)-1]
		if last.At-int64(d.Since) <= int64(j.c.Profile.Grace(d.Projection))+2*skew {
			continue // shown, but two clocks may make that much
		}
		k := cause{
			ev: Evidence{
				Rule: "projection.stale", Layer: semconv.LayerProjection, Mechanism: "stale", Weight: Telling, Directness: Itself, Certain: true,
				Records: looks, Onset: int64(d.Since), Last: last.At,
				Summary:    "the " + d.Projection + " view shows " + d.Shown + " while the " + d.Field + " has been " + d.Truth,
				NextCheck:  "the updater of the " + d.Projection + " view: is it running, and what did it last apply?",
				SafeAction: "act on the control plane's state; replay the projection",
			},
			troubles: []*Trouble{{Kind: DriftTrouble, From: int64(d.Since), At: last.At, What: "the " + d.Projection + " view is stale", Cites: looks}},
		}
		j.causes = append(j.causes, k)
		said := j.why.begin(k.troubles[0])
		said.weigh([]Evidence{k.ev}, 1)
		said.rule(Attributed, "nothing else explains why the view, or the truth, could not move")
	}
}

// findings lists what should be known and is no fault by itself.
func findings(c *Case) []Finding {
	out := []Finding{}
	state := ""
	for _, s := range c.Lifecycle.States {
		from := s.From
		if from != "" && !semconv.LegalMove(from, s.To) {
			out = append(out, Finding{"illegal_transition", "allocation moved " + from + " → " + s.To, []string{s.Event.Ref}})
		} else if from != "" && state != "" && from != state && s.To != state {
			out = append(out, Finding{"gap", "a step was not seen: " + state + " … " + from, []string{s.Event.Ref}})
		}
		state = s.To
	}
	for _, e := range c.Events {
		for _, k := range e.Conflicts {
			out = append(out, Finding{"identity_conflict", k.Winner.Kind.String() + " says " + k.Allocation + ", " + k.Loser.Kind.String() + " says " + k.Disagreeing, []string{e.Ref}})
		}
		if e.BeforeInstance {
			out = append(out, Finding{"clock", "stamped " + Time(e.Time).String() + ", before its own installation existed; placed by when it was seen", []string{e.Ref}})
		} else if e.At != e.Time {
			out = append(out, Finding{"clock", "stamped " + Time(e.Time).String() + ", which nobody can have seen; placed by when it was seen", []string{e.Ref}})
		}
	}
	for _, node := range c.Lifecycle.Nodes {
		for _, o := range c.Index.OverlapsOf(node) {
			if o.Earlier != c.ID && o.Later != c.ID {
				continue
			}
			out = append(out, Finding{"overlap", "node " + node + " was assigned to " + o.Earlier + " and " + o.Later + " at once from " + Time(o.From).String(), c.assignmentsOf(node)})
		}
	}
	return out
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
