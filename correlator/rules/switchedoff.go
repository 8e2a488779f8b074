package rules

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// switchedOff are the words of a controller that switched a machine off because somebody had it do so (Dell's, HPE's and Supermicro's logs, Redfish, ipmitool).
var switchedOff = []string{"powerstate off", "powerstate=off", "requested system powerdown", "forceoff", "chassis power control: down/off", "chassis power is off"}

// unreachedSinceOff takes a machine that nobody reaches from the network where its controller tells that it was switched off before: whoever of the
// platform told right before that that he does so owns it, and nobody where none did.
func unreachedSinceOff(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) []correlator.Evidence {
	var off *correlator.Event
	c.EachIn(semconv.LayerProvider, ev.Onset-recently, ev.Onset, func(e *correlator.Event) {
		if off == nil && !e.IsEvent() && c.Own(e, t) && slices.Contains(c.Lifecycle.Nodes, e.Node) && holds(e.Text, switchedOff) {
			off = e
		}
	})
	if off == nil {
		return []correlator.Evidence{ev}
	}
	var did *correlator.Event
	c.EachIn(semconv.LayerWorkflow, off.At-skewOfClocks, off.At+moment, func(e *correlator.Event) {
		if !e.IsEvent() && holdsWord(e.Text, off.Node) && holds(e.Text, actsOn) && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			did = e
		}
	})
	if did == nil {
		return nil
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness, ev.Certain, ev.Onset = "workflow.switched_off", semconv.LayerWorkflow, "stale", correlator.Specific, correlator.Itself, false, did.At
	ev.Records = append([]*correlator.Event{did, off}, ev.Records...)
	ev.Summary = "another run of the platform's switched the machine off while it was being worked on" + quote(did)
	ev.NextCheck, ev.SafeAction = "from when that run has its list of machines, and whether it asks for their locks", "stop that run; neither the machine nor the network needs anything"
	return []correlator.Evidence{ev}
}
