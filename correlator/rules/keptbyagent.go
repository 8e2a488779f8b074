package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// keptByAgent finds agents that keep themselves from their work.
func keptByAgent() []correlator.Rule {
	return []correlator.Rule{{
		ID: "node_agent.cuts_off", Layer: semconv.LayerNodeAgent, Mechanism: "patience",
		Looks:      "a task that was lost or failed, and the agent's own word that it ended the work since a time of its own was over",
		NextCheck:  "which of the agent's limits that is, beside how long such work takes",
		SafeAction: "raise the agent's limit, or run the version before; the machine and the network need nothing",
		Find:       endsItsWork,
	}, {
		ID: "node_agent.waits_before", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
		Looks:      "a task that nobody claimed, and an agent that says again and again, before and after the task was queued, that it waits for something on its own machine",
		NextCheck:  "what the agent waits for, and whether that can still come",
		SafeAction: "save the agent's state, then restart it; do not reimage",
		Find:       waitsBefore,
	}}
}

var (
	// endsWork finds that somebody ends what he has begun, overTime why: a deadline that he gave himself.
	endsWork = regexp.MustCompile(`\b(?:terminating|killing|cancell?ing|aborting|stopping|ending)\b(?: the)?(?: \w+)? (?:job|task|process|command|step|work)\b`)
	overTime = []string{"deadline exceeded", "timed out", "timeout", "time-out", "time limit", "too long", "max duration", "context canceled"}
	// awaitsWork finds that an agent waits for work, as it should.
	awaitsWork = regexp.MustCompile(`wait(?:ing|s) (?:for|on) (?:(?:a|an|the|new|next|more|any|its|my) )*(?:task|work|job|order|assignment|claim|request|command|instruction|event|connection)s?\b`)
)

// endsItsWork needs the agent's own word of the allocation's work, and no word of the machine's that something is wrong with it.
func endsItsWork(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Attempt == nil || t.Attempt.Taken == nil || t.Node == "" {
		return nil
	}
	var said *correlator.Event
	for _, e := range c.Failures(t) {
		switch {
		case e.IsEvent() || e.At < t.Attempt.Taken.At || e.At > t.At:
		case e.Layer == semconv.LayerNode && e.Severity >= 17:
			return nil // who ends its work for what the machine does is another matter
		case said == nil && e.Layer == semconv.LayerNodeAgent && c.Own(e, t) && e.HTTP.Status == 0 && holds(e.Text, overTime) && endsWork.MatchString(e.Text):
			said = e
		}
	}
	if said == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: said.At, Records: append([]*correlator.Event{said}, t.Cites...),
		Summary: "the agent of " + t.Node + " ended the work itself" + quote(said),
	}}
}

// waitsBefore needs three such words, one of them after the task was queued, and none of the agent's of anything else since.
func waitsBefore(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !t.NeverTaken() || t.Node == "" || t.Attempt.Queued == nil {
		return nil
	}
	var said []*correlator.Event
	other, after := false, false
	c.EachIn(semconv.LayerNodeAgent, t.Attempt.Queued.At-asksWithin, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !correlator.Names(e, t.Node) {
			return
		}
		if saysWaits(e.Text) && !awaitsWork.MatchString(e.Text) && !farAway.MatchString(e.Text) && !e.Failed() {
			said = append(said, e)
			after = after || e.At > t.Attempt.Queued.At
			return
		}
		other = other || e.At > t.Attempt.Queued.At && !strings.Contains(e.Text, "heartbeat")
	})
	if len(said) < insists || other || !after {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: said[0].At,
		Records: append([]*correlator.Event{said[0], said[len(said)-1]}, t.Cites...),
		Summary: "the agent of " + t.Node + " is alive and says again and again that it waits" + quote(said[len(said)-1]),
	}}
}
