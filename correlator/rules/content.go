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
			if answered := lookedUp(c, t, ev.Records); answered != nil {
				return answered
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
				return e.Layer == semconv.LayerWorkflow && holds(e.Text, notSent) || e.Layer == semconv.LayerWorkflow && named(e) != nil && (named(e).Layer == semconv.LayerCert || named(e).Layer == semconv.LayerNetwork)
			}) // it says itself that it did not get there: those who did were others
			if refused || unreached || len(ev.Records) == said {
				return nil
			}
			ev.Summary = "the provider was reached and has no such template" + quote(witness(ev.Records[said:]))
			return []correlator.Evidence{ev}
		},
	}}
}

// notSent are the words of who could not ask at all, since he was given no token to ask with.
var notSent = []string{"cannot fetch token", "failed to get token", "failed to fetch token", "could not get a token", "could not obtain token", "request not sent"}

// lookedUp reads what the provider answered as the template was asked for, where that was no list: a refusal is a credential's matter, and that it
// knows no such path that of a rollout of who asks, where one came before. nil where it answered neither.
func lookedUp(c *correlator.Case, t *correlator.Trouble, missing []*correlator.Event) []correlator.Evidence {
	var refused, unknown []*correlator.Event
	c.Each(t.From-moment, t.At, func(e *correlator.Event) {
		if !lookups(e) || !slices.ContainsFunc(missing, func(m *correlator.Event) bool { return e.At <= m.At+moment && e.At >= m.At-moment }) {
			return
		}
		switch {
		case e.HTTP.Status == 401 || e.HTTP.Status == 403 || e.HTTP.Status == 0 && holds(e.Text, []string{"status 401", "status 403"}):
			refused = append(refused, e)
		case e.HTTP.Status == 404:
			unknown = append(unknown, e)
		}
	})
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: true}
	switch rollout := rolledOutBefore(c, missing[0].Party(), missing[0].At); {
	case len(refused) > 0:
		ev.Rule, ev.Layer, ev.Mechanism = "api_auth.refused", semconv.LayerAPIAuth, "credential"
		ev.Records = append(ev.Records, refused[:1]...)
		ev.Summary = "the provider refused who asked for the template" + quote(witness(refused))
		ev.NextCheck, ev.SafeAction = "the credential that is shown to the provider", "renew it; template, network and provider need nothing"
	case len(unknown) > 0 && rollout != nil:
		ev.Rule, ev.Mechanism, ev.Onset = "deploy.address", "config", rollout.At
		ev.Records = append(append(ev.Records, rollout), unknown[:1]...)
		ev.Summary = "since the rollout of " + what(rollout) + " the template is asked for at a path that the provider does not know" + quote(witness(unknown))
		ev.NextCheck, ev.SafeAction = "the provider's address in what was rolled out", "roll it back, or correct the address"
	default:
		return nil
	}
	ev.Records = append(ev.Records, missing...)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	return []correlator.Evidence{ev}
}

// lookups says whether a record tells how a provider answered who asked for templates.
func lookups(e *correlator.Event) bool {
	return e.Layer == semconv.LayerProvider && !e.IsEvent() && strings.Contains(e.Text+strings.ToLower(e.HTTP.Path), "job_templates") && (e.HTTP.Status >= 400 || strings.Contains(e.Text, "status 40"))
}
