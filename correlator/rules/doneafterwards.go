package rules

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// taskEnded are the words of a provider for work of its own that came to its proper end.
var taskEnded = []string{"state=success", "state=succeeded", "status=success", "status=completed", "state: success", "completed successfully", "finished successfully", "taskstate=completed", "\"state\":\"success\""}

// doneAfterwards finds, by the identifier that a provider gave to an order, that it was at work on it when whoever had asked gave it up for the time that it
// took, and that it came to its proper end afterwards. No lifecycle event tells of such work.
func doneAfterwards(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var ordered, gaveUp *correlator.Event
	ids := map[string]bool{}
	for _, e := range c.Events {
		if e.IsEvent() || e.At < t.From || e.At > t.At || e.Party() != semconv.LayerWorkflow {
			continue
		}
		switch {
		case e.Failed() && holds(e.Text, tooLate):
			if gaveUp == nil {
				gaveUp = e
			}
		case gaveUp == nil && !e.Failed():
			for _, id := range subjects(e.Text) {
				if len(id) >= longName {
					ids[id], ordered = true, e
				}
			}
		}
	}
	if gaveUp == nil || ordered == nil {
		return nil
	}
	var atWork, done *correlator.Event
	c.Each(t.From, c.Now, func(e *correlator.Event) {
		if e.IsEvent() || e.Failed() || e.Party() != semconv.LayerProvider || !closeTo(t, e) && !correlator.EveryReaderHas(e) || !slices.ContainsFunc(subjects(e.Text), func(id string) bool { return ids[id] && id != c.ID }) {
			return
		}
		switch {
		case holds(e.Text, taskEnded):
			if e.At > gaveUp.At && done == nil {
				done = e
			}
		case underWay.Any(e.Text) && done == nil:
			atWork = e
		}
	})
	if done == nil || atWork == nil {
		return nil
	}
	return []correlator.Evidence{{
		Rule: "workflow.patience", Layer: semconv.LayerWorkflow, Mechanism: "patience", Weight: correlator.Telling, Directness: correlator.Itself, Onset: gaveUp.At,
		Records: append([]*correlator.Event{ordered, atWork, gaveUp, done}, t.Cites...),
		Summary: "the provider was at work when it was given up, and came to its end afterwards" + quote(done),
	}}
}
