package rules

import (
	"regexp"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// redelivered finds work that a queue handed out again while it was still done.
func redelivered() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.redelivered", Layer: semconv.LayerWorkflow, Mechanism: "redelivered",
		Looks:      "one and the same task that workers received more than once, minutes apart, for one order",
		NextCheck:  "how long the queue waits for an acknowledgement, beside how long the task takes",
		SafeAction: "let the longest run end; raise the queue's visibility time-out above what the task takes",
		Find:       receivedAgain,
	}}
}

// receivedWords find that a worker received a task, and its id (Celery, RQ, Sidekiq, Resque).
var receivedWords = regexp.MustCompile(`\b(?:task|job|message) [\w.:]*\[?([0-9a-f]{8}[0-9a-f-]{4,})\]? (?:received|picked up|started|redelivered)\b`)

// apart is how far two receptions of one task lie apart that are no delivery twice in a moment.
const apart = int64(5 * time.Minute)

func receivedAgain(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	received := map[string][]*correlator.Event{}
	var found []*correlator.Event
	for _, e := range c.Events {
		if e.IsEvent() || e.Layer != semconv.LayerWorkflow || e.At < t.From-moment || e.At > t.At {
			continue
		}
		m := receivedWords.FindStringSubmatch(e.Text)
		if m == nil {
			continue
		}
		received[m[1]] = append(received[m[1]], e)
		list := received[m[1]]
		if len(list) > 1 && e.At-list[0].At >= apart && len(list) > len(found) {
			found = list
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: found[1].At, Records: found[:min(len(found), ownWords)],
		Summary: "workers received one and the same task again, " + time.Duration(found[1].At-found[0].At).Round(time.Minute).String() + " after the first time" + quote(found[1]),
	}}
}
