package rules

import (
	"regexp"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// launchedTwiceByLine finds who launched one job twice, by his own lines.
func launchedTwiceByLine() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.launched_again", Layer: semconv.LayerWorkflow, Mechanism: "duplicate_launch",
		Looks:      "two launches of one step within moments, each answered with a number of its own, by the launcher's own lines, with no failure of the first between",
		NextCheck:  "why the first number was not kept",
		SafeAction: "adopt the first job; do not delete what it made",
		Find:       launchedWithTwoNumbers,
	}}
}

// launchAnswered finds the path of a launch and the number that it was answered with: "POST /api/v2/job_templates/x/launch/ 201 id=8101".
var launchAnswered = regexp.MustCompile(`\bpost (\S*launch\S*)(?: http/\S+)?:? 20[01]\b.*?\b(?:id|job)[=: "]+(\d+)`)

func launchedWithTwoNumbers(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const near = int64(2 * time.Minute)
	var first *correlator.Event
	var path, number string
	for _, e := range c.Events {
		if e.At < t.From-moment || e.At > t.At {
			continue
		}
		if first != nil && e.Party() == semconv.LayerProvider && e.Failed() {
			return nil // the first one had failed
		}
		if e.IsEvent() || e.Party() != semconv.LayerWorkflow {
			continue
		}
		m := launchAnswered.FindStringSubmatch(e.Text)
		switch {
		case m == nil:
		case first == nil:
			first, path, number = e, m[1], m[2]
		case m[1] == path && m[2] != number && e.At-first.At <= near:
			return []correlator.Evidence{{
				Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: first.At, Records: append([]*correlator.Event{first, e}, t.Cites...),
				Summary: "the same was launched twice, as " + number + " and as " + m[2] + quote(e),
			}}
		}
	}
	return nil
}
