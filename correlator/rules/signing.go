package rules

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// signing finds tasks that agents do not believe. Which side holds the wrong key cannot be read from the refusal;
// a rollout of keys just before can.
func signing() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.signing", Layer: semconv.LayerDeploy, Mechanism: "signing",
		Looks:      "tasks rejected for their signature since a rollout changed a key",
		NextCheck:  "which key signs, and which keys the agents trust",
		SafeAction: "let agents trust both keys, then rotate; do not reimage",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			ev := correlator.Evidence{
				Rule: "node_agent.rejected", Layer: semconv.LayerNodeAgent, Mechanism: "signing",
				Weight: correlator.Specific, Directness: correlator.Itself, Certain: true,
			}
			for _, e := range c.Failures(t) {
				if (e.Layer == semconv.LayerNodeAgent || e.Is(semconv.EventTaskState)) && holds(e.Text, disbelief) {
					ev.Records = append(ev.Records, e)
				}
			}
			if len(ev.Records) == 0 {
				return nil
			}
			ev.Onset, ev.Summary = ev.Records[0].At, "a task's signature was not accepted"+quote(witness(ev.Records))
			if ev = byRollout(c, ev, "signing", "signing", "-key", "/key", "public-key", "pubkey"); ev.Layer != semconv.LayerDeploy {
				return nil
			}
			return []correlator.Evidence{ev}
		},
	}}
}

var disbelief = []string{"bad_signature", "bad signature", "invalid signature", "signature verification failed", "signature mismatch"}
