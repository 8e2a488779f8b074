package rules

import (
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// endedAgent finds agents that had ended before their step began, by the word of who watches them.
func endedAgent() []correlator.Rule {
	return []correlator.Rule{{
		ID: "node_agent.ended", Layer: semconv.LayerNodeAgent, Mechanism: "exit",
		Looks:      "a task that nobody claimed, an agent of which the last that was heard is that it ended or could not start, and a node that is alive",
		NextCheck:  "the agent's last words in the journal",
		SafeAction: "start the agent, or roll it back; do not reimage",
		Find:       agentEnded,
	}}
}

// agentEnded needs the end as the last word about the agent, within a day, and a later sign of life of the node.
func agentEnded(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !t.NeverTaken() || t.Node == "" {
		return nil
	}
	var last, end *correlator.Event
	for _, layer := range []string{semconv.LayerNodeAgent, semconv.LayerNode} {
		c.EachIn(layer, t.From-int64(24*time.Hour), t.At, func(e *correlator.Event) {
			if e.Party() != semconv.LayerNodeAgent || !correlator.Names(e, t.Node) {
				return
			}
			if last == nil || e.At > last.At {
				last = e
			}
			if s := hinted(e); s != nil && e.Failed() && (s.Mechanism == "exit" || s.Mechanism == "crash" || s.Mechanism == "panic") && (end == nil || e.At > end.At) {
				end = e
			}
		})
	}
	host := c.LastOf(semconv.LayerNode, t.Node, t.From+1, t.At+int64(2*time.Minute))
	if end != nil && strings.Contains(end.Text, "thread '") && !asksSince(c, t, end.At+moment) {
		return []correlator.Evidence{{
			Rule: "node_agent.thread_ended", Mechanism: "crash", Weight: correlator.Telling, Directness: correlator.Itself, Certain: last.At > end.At+moment, Onset: end.At,
			Records: append([]*correlator.Event{end, last}, t.Cites...), Summary: "a thread of the agent of " + t.Node + " ended, and it has asked for no work since" + quote(end),
		}}
	}
	if end == nil || last.At > end.At+int64(time.Minute) || last.At > end.At && !last.Failed() || host == nil || boots(host) {
		return nil
	}
	return []correlator.Evidence{bornBroken(c, correlator.Evidence{
		Layer: semconv.LayerNodeAgent, Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: end.At, Records: append([]*correlator.Event{end, host}, t.Cites...),
		Summary: "the agent of " + t.Node + " had ended, and its node is alive" + quote(end),
	})}
}

// asksSince says whether a machine's agent has asked for work, or taken any, since a time.
func asksSince(c *correlator.Case, t *correlator.Trouble, since int64) (asked bool) {
	c.Each(since, t.At, func(e *correlator.Event) {
		taken := e.Is(semconv.EventTaskState) && e.To() == semconv.Dispatched
		asked = asked || (asksForWork(e) || taken) && (e.Node == t.Node || correlator.Names(e, t.Node))
	})
	return asked
}
