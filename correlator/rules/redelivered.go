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

// takenUp are the words without which a text is not looked at for a reception.
var takenUp = []string{" received", " picked up", " started", " redelivered"}

// apart is how far two receptions of one task lie apart that are no delivery twice in a moment.
const apart = int64(5 * time.Minute)

func receivedAgain(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	received := map[string][]*correlator.Event{}
	var found []*correlator.Event
	for _, r := range receptions(c) {
		e := r.by
		if e.At < t.From-moment || e.At > t.At {
			continue
		}
		received[r.task] = append(received[r.task], e)
		list := received[r.task]
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

// reception is a worker's word that it received a task.
type reception struct {
	task string
	by   *correlator.Event
}

// receptions are those of a case, in its order.
func receptions(c *correlator.Case) []reception {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []reception
		for _, e := range ownOn(c, themeReceived) {
			if e.Layer != semconv.LayerWorkflow {
				continue
			}
			if m := receivedWords.FindStringSubmatch(e.Text); m != nil {
				out = append(out, reception{m[1], e})
			}
		}
		return out
	}).([]reception)
}
