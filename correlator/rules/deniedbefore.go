package rules

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// deniedBefore says whether a machine's own policy had kept a process from something right before what is told of its end.
func deniedBefore(told *words, end *correlator.Event) bool {
	return slices.ContainsFunc(told.all(), func(e *correlator.Event) bool {
		s := hinted(e)
		return s != nil && s.ID == "node.denied" && e.Node == end.Node && e.Node != "" && e.At <= end.At && end.At-e.At <= int64(30*time.Second)
	})
}

// portNotSet is the network's word on the step's own machine, before a DHCP server had no address for it, that it did not do what was asked of it; nil where there is none.
func portNotSet(c *correlator.Case, t *correlator.Trouble, asked *correlator.Event) (told *correlator.Event) {
	c.EachIn(semconv.LayerNetwork, t.From-moment, asked.At, func(e *correlator.Event) {
		if told == nil && !e.IsEvent() && e.Failed() && e.Node != "" && c.Own(e, t) && e.Party() == semconv.LayerNetwork && holds(e.Text, notSet) {
			told = e
		}
	})
	return told
}

// ofPort makes a network without a free address that of who was to take the machine out of it, and did not.
func ofPort(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) (correlator.Evidence, bool) {
	told := portNotSet(c, t, ev.Records[0])
	if told == nil {
		return ev, false
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness, ev.Onset = "network.port_not_set", semconv.LayerNetwork, "config", correlator.Specific, correlator.Itself, told.At
	ev.Records = append([]*correlator.Event{told}, ev.Records...)
	ev.Summary = "the machine's port was not set, and it asks in a network that it was to be taken out of" + quote(told)
	ev.NextCheck, ev.SafeAction = "what the switch's port is set to, beside what it was to be", "set it again; the DHCP server and the machine need nothing"
	return ev, true
}

// notSet are the words of a network controller that could not set a machine's port.
var notSet = []string{"commit failed", "giving up", "not applied", "without confirmation", "could not be applied", "configuration session locked", "failed to configure", "failed to set"}
