package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
)

// ofOwnLoopback hands a certificate for another name over to the caller who dialled himself: nobody's certificate is for that name, and what he was to
// dial he does not know.
func ofOwnLoopback(ev correlator.Evidence) correlator.Evidence {
	i := slices.IndexFunc(ev.Records, func(e *correlator.Event) bool {
		return e.Party() != "" && strings.Contains(e.Text, "not localhost")
	})
	if i < 0 {
		return ev
	}
	ev.Layer = ev.Records[i].Party()
	ev.Rule, ev.Mechanism = ev.Layer+".config", "config"
	ev.Directness = correlator.Itself
	ev.Summary = "the caller dials its own machine for want of another address" + quote(ev.Records[i])
	ev.NextCheck, ev.SafeAction = "from where the caller has its address", "give it its configuration; the certificate needs nothing"
	return ev
}
