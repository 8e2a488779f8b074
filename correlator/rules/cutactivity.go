package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// cutsActivitiesOff is cutsOff for work that has no job of its own: the workflow's time for it was over, more than once, minutes after its provider had
// told of progress, and the provider called it off only then, as it was told to.
func cutsActivitiesOff(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: true}
	times := 0
	for _, over := range c.Failures(t) {
		if over.IsEvent() || over.Party() != semconv.LayerWorkflow || !strings.Contains(over.Text, "starttoclose") {
			continue
		}
		var progress, ended *correlator.Event
		for _, e := range c.Events {
			if e.IsEvent() || e.Party() != semconv.LayerProvider || !slices.Contains(c.Lifecycle.Nodes, e.Node) {
				continue
			}
			switch {
			case e.At < over.At && e.At > over.At-int64(5*time.Minute) && !e.TellsOfFailure():
				progress = e
			case e.At >= over.At && e.At < over.At+skewOfClocks && strings.Contains(e.Text, "abort"):
				ended = e
			}
		}
		if progress != nil && ended != nil {
			times++
			ev.Records = append(ev.Records, progress, over, ended)
		}
	}
	if times < 2 {
		return nil
	}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Records = slices.Compact(ev.Records)
	ev.Onset = ev.Records[0].At
	ev.Summary = "the workflow called its provider off while that was at work, " + quote(ev.Records[1])[2:]
	return []correlator.Evidence{ev}
}
