package rules

import (
	"slices"

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
		other := changedBesides(c, t, rollout)
		if other == nil {
			return found
		}
		rival := found[0]
		found[0].Disputed = layerOfChange(c, other)
		rival.Rule, rival.Layer, rival.Disputed = found[0].Disputed+".change", found[0].Disputed, semconv.LayerDeploy
		rival.Records = append([]*correlator.Event{other}, slices.Delete(slices.Clone(rival.Records), i, i+1)...)
		rival.Summary = "since the change of " + what(other) + ", made in the same moment as " + what(rollout) + ", something does not fit"
		return append(found, rival)
	}
	return r
}

// changedBesides is a change by another layer in the same moment as a rollout, which lasted until the step went wrong; nil where there is none.
func changedBesides(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event) (other *correlator.Event) {
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
	return other
}
