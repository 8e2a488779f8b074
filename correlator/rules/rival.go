package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// withRival lets a change that a rule blames stand beside another one that somebody else made in the same moment, and that was not undone before the step
// went wrong: nothing tells which of the two it was (docs/domain.md).
func withRival(r correlator.Rule) correlator.Rule {
	find := r.Find
	r.Find = func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
		found := find(c, t)
		if len(found) != 1 || found[0].Layer != semconv.LayerDeploy || found[0].Disputed != "" || found[0].Weight == correlator.Specific || c.Profile.FirstFailure() {
			return found
		}
		i := slices.IndexFunc(found[0].Records, func(e *correlator.Event) bool { return e.Is(semconv.EventDeploy) })
		if i < 0 {
			return found
		}
		rollout := found[0].Records[i]
		if other := changedAtOnce(c, t, rollout); other != nil {
			return rivals(c, found[0], rollout, other)
		}
		return found
	}
	return r
}

// rivals are a rollout that is blamed and a change that another layer made in the same moment, each against the other.
func rivals(c *correlator.Case, ev correlator.Evidence, rollout, other *correlator.Event) []correlator.Evidence {
	records := slices.DeleteFunc(slices.Clone(ev.Records), func(e *correlator.Event) bool { return e == rollout || e == other })
	since := func(layer string, own, beside *correlator.Event) correlator.Evidence {
		one := ev
		one.Rule, one.Layer, one.Mechanism = layer+".change", layer, "change"
		one.Records, one.Onset = append([]*correlator.Event{own}, records...), own.At
		one.Summary = "since the change of " + changeOf(own) + ", made in the same moment as that of " + changeOf(beside) + ", something fails"
		if len(records) > 0 {
			one.Summary += quote(witness(records))
		}
		return one
	}
	layer := layerOfChange(c, other)
	first, second := since(semconv.LayerDeploy, rollout, other), since(layer, other, rollout)
	first.Disputed, second.Disputed = layer, semconv.LayerDeploy
	return []correlator.Evidence{first, second}
}

// changedAtOnce is a change by another layer in the same moment as a rollout, which lasted until the step went wrong; nil where there is none.
func changedAtOnce(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event) (other *correlator.Event) {
	c.EachEvent(semconv.EventDeploy, rollout.At-moment, rollout.At+moment, func(e *correlator.Event) {
		layer := layerOfChange(c, e)
		if e == rollout || layer == semconv.LayerDeploy || layer == semconv.LayerClient || e.Attr(semconv.Component) == rollout.Attr(semconv.Component) {
			return
		}
		undone := false
		c.EachEvent(semconv.EventDeploy, e.At+moment, t.At, func(back *correlator.Event) { undone = undone || takesBack(back, e) })
		if !undone {
			other = e
		}
	})
	if other == nil && holds(strings.ToLower(what(rollout)), filters) {
		other = toldBeside(c, t, rollout, t.At)
	}
	return other
}

// changedBeside is a change by another layer that was made and undone in the same moments as a rollout: nothing tells the two apart.
func changedBeside(c *correlator.Case, t *correlator.Trouble, changes []*correlator.Event, rollout, undone *correlator.Event) *correlator.Event {
	near := func(a, b *correlator.Event) bool { return max(a.At, b.At)-min(a.At, b.At) <= moment }
	for _, e := range changes {
		if e == rollout || !near(e, rollout) || e.Attr(semconv.Component) == rollout.Attr(semconv.Component) || layerOfChange(c, e) == semconv.LayerDeploy {
			continue
		}
		for _, back := range changes {
			if near(back, undone) && takesBack(back, e) {
				return e
			}
		}
	}
	return toldBeside(c, t, rollout, undone.At-moment)
}

// layerOfChange is the layer that made a change by itself, by its own record; else it was rolled out.
func layerOfChange(c *correlator.Case, e *correlator.Event) string {
	if e.Layer != "" && c.Profile.Knows(e.Layer) {
		return e.Layer
	}
	return semconv.LayerDeploy
}
