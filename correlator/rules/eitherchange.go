package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// eitherOf makes a misfit since one of two rollouts, made in one moment and both of who complains or of whom he speaks, the one's as much as the other's; nil where
// there is no such second one, or more than one.
func eitherOf(c *correlator.Case, ev correlator.Evidence, found *correlator.Event, complaints, rollouts []*correlator.Event) []correlator.Evidence {
	party := func(rollout *correlator.Event) bool { // to what is complained of
		name := strings.ToLower(rollout.Attr(semconv.Component))
		layer := correlator.LayerOfName(c.Profile, name)
		return slices.ContainsFunc(complaints, func(e *correlator.Event) bool {
			return layer != "" && (e.Party() == layer || callee(c, e) == layer) || len(name) > 3 && strings.Contains(e.Text, name)
		}) || layer == semconv.LayerIngress && slices.ContainsFunc(complaints, func(e *correlator.Event) bool { return e.HTTP.Status != 0 && e.Layer == semconv.LayerAPI }) // its answer went by there
	}
	var rival *correlator.Event
	for _, e := range rollouts {
		if e == found || max(e.At, found.At)-min(e.At, found.At) > moment || e.Attr(semconv.Component) == found.Attr(semconv.Component) || !party(e) {
			continue
		}
		if rival != nil {
			return nil
		}
		rival = e
	}
	if rival == nil || !party(found) {
		return nil
	}
	one := func(own, beside *correlator.Event) correlator.Evidence {
		e := ev
		e.Onset, e.Records, e.Directness, e.Disputed = own.At, append([]*correlator.Event{own}, complaints...), correlator.Caller, semconv.LayerDeploy
		e.Summary = "since the rollout of " + what(own) + ", in the same moment as that of " + what(beside) + ", something does not fit" + quote(witness(complaints))
		return e
	}
	return []correlator.Evidence{one(found, rival), one(rival, found)}
}
