package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// pathOf finds what was asked for: two or more parts of a URL's path.
var pathOf = regexp.MustCompile(`(?:/[a-z0-9._~%{}-]+){2,}`)

// byWhoHadIt hands calls that timed out over to whom they went to, where that one tells at the same time, of the same path, that it failed there: what is
// written down where it should arrive has arrived, and no packet was lost (RFC 9293: no data is delivered before the connection is made).
func byWhoHadIt(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var arrived []*correlator.Event
	layer := ""
	for _, dial := range ev.Records {
		path := ""
		for _, p := range pathOf.FindAllString(dial.Text, -1) {
			if len(p) > len(path) {
				path = p
			}
		}
		if path == "" {
			return ev
		}
		at := slices.IndexFunc(c.Beside(t, telling), func(e *correlator.Event) bool {
			return e.Failed() && !e.IsEvent() && max(e.At, dial.At)-min(e.At, dial.At) <= moment && strings.Contains(e.Text, path) &&
				e.Party() != dial.Party() && !slices.Contains([]string{semconv.LayerClient, semconv.LayerIngress, semconv.LayerNetwork}, e.Party()) && c.Profile.Knows(e.Party())
		})
		if at < 0 {
			return ev
		}
		e := c.Beside(t, telling)[at]
		if layer != "" && layer != e.Party() {
			return ev
		}
		layer = e.Party()
		arrived = append(arrived, e)
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness = layer+".slow", layer, "slow", correlator.Telling, correlator.Itself
	ev.Summary = "calls that timed out are on record where they went to, as failed" + quote(arrived[0])
	ev.Onset = min(ev.Onset, arrived[0].At)
	ev.Records = append(slices.Clone(ev.Records), arrived...)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	return ev
}
