package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// budget finds drains that a disruption budget never lets through.
func budget() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.budget", Layer: semconv.LayerDeploy, Mechanism: "config",
		Looks:      "a machine that cannot be drained since a budget wants as many healthy pods as there are, again and again: all are healthy, and none may go",
		NextCheck:  "how many replicas were rolled out, and how many the budget wants",
		SafeAction: "roll out one replica more, or a budget that lets one go; do not delete the pod by force",
		Find:       neverLetsGo,
	}}
}

// wantsHealthy finds what a budget wants and has (Kubernetes' eviction API).
var wantsHealthy = regexp.MustCompile(`disruption budget (\S+) needs (\d+) healthy pods and has (\d+) currently`)

// neverLetsGo needs the same word of one budget twice at least: a pod that is just being replaced makes it true for a while.
func neverLetsGo(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	by := map[string][]*correlator.Event{}
	for _, e := range slices.Concat(c.Failures(t), c.Beside(t, telling)) {
		if !on(e, themeBudget) {
			continue
		}
		m := wantsHealthy.FindStringSubmatch(e.Text)
		if m == nil || m[2] != m[3] {
			continue
		}
		if slices.Contains(by[m[1]], e) {
			continue
		}
		if by[m[1]] = append(by[m[1]], e); len(by[m[1]]) > 1 && e.At-by[m[1]][0].At > recently {
			ev := correlator.Evidence{
				Weight: correlator.Telling, Directness: correlator.Caller, Onset: by[m[1]][0].At, Records: by[m[1]],
				Summary: "the budget " + m[1] + " wants as many healthy pods as there are, and lets none go" + quote(e),
			}
			if made := madeBudget(c, m[1]); made != nil {
				ev.Rule, ev.Layer, ev.Mechanism, ev.Records = "client.budget", semconv.LayerClient, "request", append([]*correlator.Event{made}, ev.Records...)
				ev.SafeAction = "have its owner let one go, or run one replica more; do not delete the pod by force"
			}
			return []correlator.Evidence{ev}
		}
	}
	return nil
}

// madeBudget is the API's own record of the allocation that a user created a budget of a name, nil where there is none.
func madeBudget(c *correlator.Case, name string) *correlator.Event {
	for _, e := range c.Events {
		if !e.IsEvent() && strings.Contains(e.Text, name) && strings.Contains(e.Text, "poddisruptionbudget") && holds(e.Text, []string{"verb=create", "verb=update", "verb=patch", "created"}) && userWords.MatchString(e.Text) {
			return e
		}
	}
	return nil
}

// userWords find a person, by an address, as the one who did something (Kubernetes' audit log); its own accounts begin with "system:".
var userWords = regexp.MustCompile(`\buser(?:name)?[=:]\s*"?[\w.+-]+@`)
