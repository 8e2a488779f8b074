package rules

import (
	"regexp"
	"slices"
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
var launchAnswered = regexp.MustCompile(`\b(?:post (\S*launch\S*)(?: http/\S+)?:? 20[01]\b.*?\b(?:id|job)|launched (?:template |job template )?(\S+?),? (?:as )?job)[=: "]+(\d+)`)

// launchWords are the words without which a line is not looked at for a launch.
var launchWords = []string{"launch"}

// noted is a launch as its launcher tells of it.
type noted struct {
	event        *correlator.Event
	path, number string
}

// launches lists, in order of time, the launches that the allocation's own lines tell of.
func launches(c *correlator.Case) []noted {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []noted
		for _, e := range ownOn(c, themeLaunch) {
			if e.Party() != semconv.LayerWorkflow {
				continue
			}
			if m := launchAnswered.FindStringSubmatch(e.Text); m != nil {
				out = append(out, noted{e, m[1] + m[2], m[3]})
			}
		}
		return out
	}).([]noted)
}

func launchedWithTwoNumbers(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const near = int64(2 * time.Minute)
	var first *noted
	for _, l := range launches(c) {
		switch e := l.event; {
		case e.At < t.From-near || e.At > t.At:
		case first == nil:
			first = &l
		case l.path == first.path && l.number != first.number && e.At-first.event.At <= near && !failedBetween(c, first.event.At, e.At):
			return []correlator.Evidence{{
				Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: first.event.At, Records: append([]*correlator.Event{first.event, e}, t.Cites...),
				Summary: "the same was launched twice, as " + first.number + " and as " + l.number + quote(e),
			}}
		}
	}
	return nil
}

// failedBetween says whether the provider told the allocation of a failure between two times.
func failedBetween(c *correlator.Case, from, to int64) bool {
	return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
		return e.At > from && e.At < to && e.Party() == semconv.LayerProvider && e.Failed()
	})
}
