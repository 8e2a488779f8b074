package rules

import (
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// refused finds dials that reached a machine on which nothing listens: the service is absent.
func refused() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.not_running", Layer: semconv.LayerDeploy, Mechanism: "not_running",
		Looks:      "a dial that was refused: the machine is there, the service is not",
		NextCheck:  "whether the service behind that address is deployed and running",
		SafeAction: "start the service; do not restart its callers",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Caller, Certain: false}
			for _, e := range c.Failures(t) {
				// A proxy that was refused by its back end is the ingress rules' matter.
				if strings.Contains(e.Text, "connection refused") && e.Layer != semconv.LayerIngress && named(e) == nil {
					ev.Records = append(ev.Records, e)
				}
			}
			if len(ev.Records) == 0 || mute(c, t, ev.Records[0]) {
				return nil
			}
			ev.Summary = "nothing listens at the address that was dialled" + quote(ev.Records[0])
			return []correlator.Evidence{ev}
		},
	}}
}

// mute says whether the dialled service is one that the platform knows by name, and whose layer says nothing
// at all: then it may have crashed as well as not been there, and nobody can tell.
func mute(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	for word := range strings.FieldsFuncSeq(e.Text+" "+strings.ToLower(e.Attr(semconv.ServerAddress)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		layer := c.Profile.Layer(word, "", none)
		if layer != "" && layer != e.Layer && len(word) > 3 && c.AliveBetween(layer, t.From-recently, c.Now) == nil {
			return true
		}
	}
	return false
}
