package rules

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// orphan finds what a controller let slip: it ended an allocation while a job still worked on it.
func orphan() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.orphan", Layer: semconv.LayerWorkflow, Mechanism: "orphan",
		Looks:      "a resource seen alive after its allocation was gone, and a job that was not at its end when the allocation was",
		NextCheck:  "what the controller took for the end of that job",
		SafeAction: "delete the resource by its label; let the controller wait for the job's end",
		Find: func(_ *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			if t.Kind != correlator.OrphanTrouble {
				return nil
			}
			return []correlator.Evidence{{
				Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: t.From, Records: t.Cites, Summary: t.What,
			}}
		},
	}}
}
