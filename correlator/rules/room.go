package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// ofRoom weighs what is said of a want of room: of a task that nobody claimed who waits for it says it in vain, and a scheduler that ran out of
// hosts to try says less than the host that failed.
func ofRoom(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) []correlator.Evidence {
	if ev.Layer != semconv.LayerProvider {
		return []correlator.Evidence{ev}
	}
	itself := slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Party() == semconv.LayerProvider })
	if t.NeverTaken() && !itself || !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient }) {
		return nil
	}
	if !itself && len(c.Lifecycle.Jobs) == 0 && !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return holds(e.Text, cloudCodes) }) {
		ev.Weight, ev.Certain = correlator.Generic, false // nothing was ordered yet: whoever waits tells what he lacks
	}
	if slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return !strings.Contains(e.Text, "not enough hosts") }) {
		return []correlator.Evidence{ev}
	}
	tried := func(e *correlator.Event) bool {
		return e.Party() == semconv.LayerProvider && e.Failed() && !slices.Contains(ev.Records, e) && (holds(e.Text, triedOthers) || ofItself.Any(e.Text))
	}
	if slices.ContainsFunc(c.Beside(t, telling), tried) || slices.ContainsFunc(c.Failures(t), tried) {
		return nil
	}
	return []correlator.Evidence{ev}
}

// freeMachines finds that a provider tells of machines that nobody uses.
var freeMachines = regexp.MustCompile(`(?:^|[^\d/]\s?|: )\b[1-9]\d* (?:machines?|hosts?|nodes?|servers?) (?:are )?(?:ready|available|free|idle)\b`)

// ofPlacement hands the API's own word that nothing fits over to the API, where the provider tells meanwhile of machines that are free.
func ofPlacement(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	if slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Party() != semconv.LayerAPI }) {
		return ev
	}
	var free *correlator.Event
	c.EachIn(semconv.LayerProvider, t.From-recently, t.At, func(e *correlator.Event) {
		if free == nil && !e.IsEvent() && !holds(e.Text, []string{"0/", "0 of ", "insufficient"}) && freeMachines.MatchString(e.Text) && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			free = e
		}
	})
	if free == nil {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Directness = "api.placement", semconv.LayerAPI, "placement", correlator.Itself
	ev.Records = append(ev.Records, free)
	ev.Summary = "the API finds no machine that fits, while the provider has some free" + quote(ev.Records[0])
	ev.NextCheck, ev.SafeAction = "by what the API filters machines", "correct that; the provider needs nothing"
	return ev
}

// cloudCodes are the codes by which a cloud itself answers that it has no machine (EC2, Compute Engine, Azure, OCI): whoever repeats one was told so.
var cloudCodes = []string{"insufficientinstancecapacity", "insufficienthostcapacity", "insufficientcapacityexception", "insufficientservercapacity", "zone_resource_pool_exhausted", "overconstrainedallocationrequest", "out of host capacity"}
