package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// tookDefault finds programs that go on with a value of their own since a rollout left theirs out.
func tookDefault() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.left_out", Layer: semconv.LayerDeploy, Mechanism: "config",
		Looks:      "what was rolled out, and tells right afterwards that it takes a value of its own for one that it was not given, and a step that fails for that very value",
		NextCheck:  "the setting that is missing since that rollout",
		SafeAction: "roll it back, or give it the value; who was asked for the wrong thing needs nothing",
		Find:       failsForDefault,
	}}
}

// defaultTaken finds the value that a program takes for one that it was not given: "section 'Datacenter' not found, using default 'dc-lab'".
var defaultTaken = regexp.MustCompile(`\b(?:default|defaults to|defaulting to|fall(?:s|ing)? back to|fallback)\b(?: value| of| is| to)?[ :=]*["']?([\w./-]{4,})`)

func failsForDefault(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	var found []correlator.Evidence
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.At, func(rollout *correlator.Event) {
		name := strings.ToLower(rollout.Attr(semconv.Component))
		layer := correlator.LayerOfName(c.Profile, name)
		c.Each(rollout.At, rollout.At+recently, func(said *correlator.Event) {
			if said.IsEvent() || !correlator.EveryReaderHas(said) || !strings.EqualFold(said.Service, name) && (layer == "" || said.Party() != layer) {
				return
			}
			m := defaultTaken.FindStringSubmatch(said.Text)
			if m == nil {
				return
			}
			for _, e := range c.Failures(t) {
				if e.At >= said.At && c.Own(e, t) && namedIn(e.Text, m[1]) && misfits.Any(e.Text) {
					found = []correlator.Evidence{{
						Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: rollout.At, Records: inOrder(rollout, said, e),
						Summary: "since the rollout of " + what(rollout) + " it takes " + m[1] + " for what it was not given" + quote(said),
					}}
					return
				}
			}
		})
	})
	return found
}
