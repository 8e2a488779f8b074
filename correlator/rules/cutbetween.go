package rules

import (
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// cutBetween finds proxies whose back ends do not answer a connection, and are well, where the network tells of a lost way.
func cutBetween() []correlator.Rule {
	return []correlator.Rule{{
		ID: "network.cut_between", Layer: semconv.LayerNetwork, Mechanism: "unreachable",
		Looks:      "a proxy whose connections to its back ends are not answered (neither refused nor reset), a back end that is alive, and the network's own word on a lost route or neighbour at that time",
		NextCheck:  "which routes or neighbours were lost, and why",
		SafeAction: "bring the way back; the proxy and its back ends need nothing",
		Find:       backEndsCutOff,
	}}
}

// Words on both sides: of a connection that nobody answered (HAProxy's checks, nginx), and of a way that was lost (FRR, Cisco, Junos, Linux).
var (
	unansweredConnect = []string{"layer4 timeout", "timed out) while connecting to upstream", "delayed connect error: 110"}
	lostRoute         = []string{"no route", "adjchange", "maxpfx", "withdr", "neighbor down", "peer down", "hold timer expired", "unreachable", "idle (pfxct)", "link down", "route removed", "lost route", "session closed"}
)

func backEndsCutOff(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const before = int64(2 * time.Minute)
	var down, told *correlator.Event
	c.EachIn(semconv.LayerIngress, t.From-recently, t.At, func(e *correlator.Event) {
		if down == nil && !e.IsEvent() && e.Failed() && on(e, themeUnconnected) {
			down = e
		}
	})
	if down == nil {
		return nil
	}
	alive := c.AliveBetween(semconv.LayerAPI, t.From, t.At+recently)
	if alive == nil {
		return nil
	}
	c.Each(down.At-before, t.At, func(e *correlator.Event) {
		if told == nil && !e.IsEvent() && e.Party() == semconv.LayerNetwork && holds(e.Text, lostRoute) && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			told = e
		}
	})
	if told == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Onset: told.At, Records: inOrder(told, down, alive),
		Summary: "the proxy's connections are not answered, the back end is alive, and the network lost a way" + quote(told),
	}}
}
