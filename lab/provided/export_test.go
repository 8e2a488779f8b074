package provided

import (
	"math"

	"github.com/faultline-io/faultline/lab/latency"
)

// Planned is what the experiment's runs take in life, in seconds, by phase: the playbook's end is seen at the next look
// at AAP's job, or at EDA's marks.
func Planned(provider string, runs int) map[string][]float64 {
	seen := func(takes, every float64) float64 { return (math.Floor(takes/every) + 1) * every }
	out := map[string][]float64{}
	for run := range runs {
		at := run % len(aapCreate)
		up, down := seen(edaCreate[at], watchPoll.Seconds()), seen(edaDelete[at], watchPoll.Seconds())
		if provider == "aap" {
			up = launchCreate.Seconds() + seen(aapCreate[at], statusPoll.Seconds())
			down = launchDelete.Seconds() + seen(aapDelete[at], statusPoll.Seconds())
		}
		out[latency.Provision] = append(out[latency.Provision], up)
		out[latency.Deprovision] = append(out[latency.Deprovision], down)
		out[latency.Overall] = append(out[latency.Overall], up+down)
	}
	return out
}
