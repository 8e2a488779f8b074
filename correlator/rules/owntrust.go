package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// ofOwnTrust hands an authority that one caller alone does not know over to him, where others are served meanwhile by whom he does not trust: they were shown
// the same certificate. That the called tells of the caller's alert (RFC 8446, 6.2) is his word again.
func ofOwnTrust(c *correlator.Case, t *correlator.Trouble, s *signature, ev correlator.Evidence) correlator.Evidence {
	if s.ID != "cert.unknown_ca" {
		return ev
	}
	var own []*correlator.Event
	for _, e := range ev.Records {
		switch {
		case e.Layer == semconv.LayerClient && (len(own) == 0 || own[0].Service == e.Service):
			own = append(own, e)
		case !strings.Contains(e.Text, "remote error"):
			return ev // somebody else does not trust it either
		}
	}
	well := othersAnswered(c, t, own)
	if well == nil {
		return ev
	}
	c.Borrow(well)
	ev.Rule, ev.Layer, ev.Mechanism, ev.Directness, ev.Certain = "client.trust", semconv.LayerClient, "trust", correlator.Itself, false
	ev.Records = append(slices.Clone(ev.Records), well)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Summary = "one caller does not know the authority, and others are served meanwhile" + quote(own[0])
	ev.NextCheck, ev.SafeAction = "the authorities that the caller's tool was given", "give it the platform's authority; the certificate needs nothing"
	return ev
}
