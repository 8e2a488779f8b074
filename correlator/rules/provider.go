package rules

import (
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// provider finds jobs that a provider itself says failed.
func provider() []correlator.Rule {
	return []correlator.Rule{{
		ID: "provider.job", Layer: semconv.LayerProvider, Mechanism: "job",
		Looks:      "a provider's job that ran and failed, by the provider's own state",
		NextCheck:  "the job's explanation and the task that failed in it",
		SafeAction: "fix what the job names, then a new attempt; do not strip finalizers",
		Find: func(_ *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			if t.Kind != correlator.JobTrouble {
				return nil
			}
			last := t.Cites[len(t.Cites)-1]
			if !strings.EqualFold(last.To(), "failed") || named(last) != nil {
				return nil
			}
			return []correlator.Evidence{{
				Weight: correlator.Telling, Directness: correlator.Itself, Certain: last.Attr(semconv.ProviderExplanation) != "",
				Records: t.Cites, Onset: last.At, Summary: t.What + quote(last),
			}}
		},
	}}
}
