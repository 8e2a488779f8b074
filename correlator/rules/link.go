package rules

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// farEndAccuses says whether an end of a link that went down, or what drives it, tells that the other end is why: the other one may say the same, and
// nobody knows.
func farEndAccuses(c *correlator.Case, records []*correlator.Event) bool {
	accuses := false
	first, last := records[0].At, records[len(records)-1].At
	for _, layer := range []string{semconv.LayerNetwork, semconv.LayerNode} {
		c.EachIn(layer, first-int64(2*time.Minute), last+int64(2*time.Minute), func(e *correlator.Event) {
			accuses = accuses || !e.IsEvent() && e.Failed() && accusesFarEnd(e) && (layer == semconv.LayerNetwork || e.Node == records[0].Node)
		})
	}
	return accuses
}

// atOnce says whether another machine met the same within a breath: what they have in common is not the machine.
func atOnce(c *correlator.Case, t *correlator.Trouble, s *signature, records []*correlator.Event) bool {
	return slices.ContainsFunc(ofOtherMachines(c), func(e *correlator.Event) bool {
		return hinted(e) == s && !c.Own(e, t) && slices.ContainsFunc(records, func(own *correlator.Event) bool { return max(own.At, e.At)-min(own.At, e.At) <= int64(2*time.Second) })
	})
}

// switchFailed says whether the network tells of a failure of its own right before a machine's link went down, and names that machine among those whose links
// did: the link is the switch's.
func switchFailed(c *correlator.Case, records []*correlator.Event) bool {
	const breath = int64(10 * time.Second)
	down := records[0]
	failed, named := false, false
	c.EachIn(semconv.LayerNetwork, down.At-breath, down.At+breath, func(e *correlator.Event) {
		if !e.IsEvent() && e.Failed() {
			failed = failed || e.Severity >= 17 && e.At <= down.At+moment && !correlator.Names(e, down.Node)
			named = named || down.Node != "" && correlator.Names(e, down.Node)
		}
	})
	if !failed || !named {
		return false
	}
	own := false // the machine's end of the link failed, too
	c.EachIn(semconv.LayerNode, down.At-breath, down.At+moment, func(e *correlator.Event) {
		own = own || !e.IsEvent() && e.Severity >= 17 && e.Node == down.Node
	})
	return !own
}

// accusesFarEnd says whether one end of a link tells that the other one is why nothing arrives.
func accusesFarEnd(e *correlator.Event) bool {
	return holds(e.Text, []string{"remote side does not transmit", "peer does not transmit", "cause: remote side", "cause: far end", "far end is down", "far-end fault", "suspecting link partner", "suspecting host side", "suspecting peer", "suspecting remote", "suspecting far end", "lacpdus sent", "lacpdu_rx=0", "no lacp pdus received", "no 802.3ad response from the link partner",
		"remote fault received", "no signal received from the switch", "no light received from", "host transmits nothing", "beyond the switch port", "the host loses", "the fabric does not deliver", "the network does not deliver"})
}
