package rules

import (
	"net/http"
	"strconv"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// trigger finds launches that never reached the provider: the address answered, and was the wrong one.
func trigger() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.endpoint", Layer: semconv.LayerDeploy, Mechanism: "config",
		Looks:      "a provider's trigger answered 404 or 405, of which the provider itself knows nothing",
		NextCheck:  "the configured address and path of the provider's trigger",
		SafeAction: "correct the address and restart the operator; the provider needs nothing",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			if t.Kind != correlator.JobTrouble && t.Kind != correlator.StateTrouble && t.Kind != correlator.OverdueTrouble {
				return nil
			}
			ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: true}
			for _, e := range c.Failures(t) {
				said := holds(e.Text, []string{"received non-success status code: 404", "received non-success status code: 405"})
				called := e.SpanKind == "client" && e.HTTP.Method == http.MethodPost && (e.HTTP.Status == 404 || e.HTTP.Status == 405)
				if e.Layer == semconv.LayerWorkflow && (said || called) {
					ev.Records = append(ev.Records, e)
				}
			}
			if len(ev.Records) == 0 {
				return nil
			}
			for _, e := range c.Events {
				if e.Layer == semconv.LayerProvider && e.HTTP.Status != 404 && e.HTTP.Status != 405 {
					return nil // it was reached
				}
			}
			ev.Summary = "the provider's trigger is not at the configured address" + quote(witness(ev.Records))
			if s := ev.Records[0].HTTP.Status; s != 0 {
				ev.Summary += " (" + strconv.Itoa(s) + ")"
			}
			return []correlator.Evidence{ev}
		},
	}}
}
