package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// content finds what a rollout should have published and did not. The operator's sentence is the same for
// every trouble with the provider; the provider's own answer tells them apart: reached, 200, nothing in it.
func content() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.content", Layer: semconv.LayerDeploy, Mechanism: "content",
		Looks:      "a template that is missing although the provider was reached and answered 200 with nothing in it",
		NextCheck:  "the step of the last rollout that publishes templates",
		SafeAction: "publish the templates again; the allocation can be retried afterwards",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: true}
			missing := false
			var answered []*correlator.Event
			for _, e := range c.Failures(t) {
				switch {
				case strings.Contains(e.Text, "not found as job_templates"):
					missing = true
					ev.Records = append(ev.Records, e)
				case strings.Contains(e.Text, "template_missing"):
					// The provisioner's own word for it, which it says only of a provider that has answered.
					answered = append(answered, e)
				}
			}
			if len(answered) > 0 {
				ev.Records, ev.Summary = append(ev.Records, answered...), "the provider was reached and has no such template"+quote(answered[0])
				return []correlator.Evidence{ev}
			}
			if !missing {
				return nil
			}
			refused, said := false, len(ev.Records)
			c.Each(t.From-int64(rolledOut), t.At, func(e *correlator.Event) {
				about := strings.Contains(e.Text, "job_templates") || strings.Contains(e.HTTP.Path, "job_templates")
				switch {
				case about && e.HTTP.Status >= 400:
					refused = true
				case e.HTTP.Status == 200 && about && (strings.Contains(e.Text, `"count":0`) || strings.Contains(e.Text, `"count": 0`) || strings.Contains(e.Text, "count=0") || e.Layer == semconv.LayerProvider):
					ev.Records = append(ev.Records, e)
				case e.Layer == semconv.LayerDeploy && (e.Severity >= 17 || e.Is(semconv.EventDeploy)) && strings.Contains(e.Text+e.Attr(semconv.Component), "template"):
					ev.Records = append(ev.Records, e)
				}
			})
			unreached := slices.ContainsFunc(slices.Concat(c.Failures(t), wordsOf(c, t).all()), func(e *correlator.Event) bool {
				return e.Layer == semconv.LayerWorkflow && named(e) != nil && (named(e).Layer == semconv.LayerCert || named(e).Layer == semconv.LayerNetwork)
			}) // it says itself that it did not get there: those who did were others
			if refused || unreached || len(ev.Records) == said {
				return nil
			}
			ev.Summary = "the provider was reached and has no such template" + quote(witness(ev.Records[said:]))
			return []correlator.Evidence{ev}
		},
	}}
}
