package rules

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// stoodBy is a run that was planned and given up before it began, while who should have begun it tells, again and again, that he stands by: for a leader, a lock, a
// lease.
func stoodBy(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var planned *correlator.Event
	for _, w := range c.Lifecycle.Workflows {
		if w.Changes[0].At < t.From-moment {
			continue // of a step before
		}
		if slices.ContainsFunc(w.Changes, func(change correlator.Change) bool { return change.At < t.At && change.To != semconv.Scheduled }) {
			return nil
		}
		planned = w.Changes[0].Event
	}
	if planned == nil {
		return nil
	}
	var says []*correlator.Event
	c.EachIn(semconv.LayerWorkflow, planned.At, t.At, func(e *correlator.Event) {
		if !e.IsEvent() && e.Party() == semconv.LayerWorkflow && holds(e.Text, standingBy) && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			says = append(says, e)
		}
	})
	if len(says) < 2 {
		return nil
	}
	return []correlator.Evidence{{
		Rule: "workflow.not_taken", Layer: semconv.LayerWorkflow, Weight: correlator.Generic, Directness: correlator.Itself, Onset: planned.At,
		Records: append([]*correlator.Event{planned}, append(says[:min(len(says), ownWords):min(len(says), ownWords)], t.Cites...)...),
		Summary: "the run was planned and begun by nobody, and who should have begun it stands by" + quote(says[0]),
	}}
}
