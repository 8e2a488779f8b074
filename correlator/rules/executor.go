package rules

import (
	"regexp"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// executor finds agents that take an order up again and again, and do nothing of it.
func executor() []correlator.Rule {
	return []correlator.Rule{{
		ID: "node_agent.sits", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
		Looks:      "a task that one installation of an agent claimed at least twice and lost each time, while its heart went on beating and neither it nor its node complained",
		NextCheck:  "what the agent's worker waits for: its own dump of goroutines or threads",
		SafeAction: "save the agent's state, then restart it; do not reimage",
		Find:       sits,
	}, {
		ID: "node_agent.holds", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
		Looks:      "a task that an agent claimed, whose lease it renewed again and again, and that it never began until whoever waited gave up",
		NextCheck:  "what the agent's worker waits for: its own dump of goroutines or threads",
		SafeAction: "save the agent's state, then restart it; do not reimage",
		Find:       holdsUnbegun,
	}, {
		ID: "node_agent.full", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
		Looks:      "a task that an agent took and lost again, or never took, which tells meanwhile, minutes apart, that each of its executors is busy",
		NextCheck:  "what its executors do: their own dump of goroutines or threads",
		SafeAction: "save the agent's state, then restart it; do not reimage",
		Find:       allBusy,
	}, {
		ID: "node_agent.queues", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
		Looks:      "a task that an agent claimed and lost with its lease, and that stood in a queue of the agent's own meanwhile, by its own words, while its heart went on beating",
		NextCheck:  "what the agent's worker waits for: its own dump of goroutines or threads",
		SafeAction: "save the agent's state, then restart it; do not reimage",
		Find:       queuesIt,
	}}
}

// inOwnQueue are the words by which an agent tells that something waits within it.
var inOwnQueue = []string{"queue", "fila", "cola ", "en cola", "warteschlange", "file d'attente", "in coda", "backlog", "waiting for a free", "waits for a free", "kolejc", "kolejk"}

// queuesIt needs the agent's own words that the task stands in its queue, the first and the last of them minutes apart, nothing that failed for it meanwhile, and that it
// is heard of afterwards.
func queuesIt(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const apart = int64(4 * time.Minute)
	a := t.Attempt
	if a == nil || a.Taken == nil || a.Over == nil || a.Over.To() != semconv.Lost || a.Taken.To() != semconv.Dispatched || a.Node == "" {
		return nil
	}
	var own []*correlator.Event
	complained := false
	task := strings.ToLower(a.Task)
	c.EachIn(semconv.LayerNodeAgent, a.Taken.At+1, a.Over.At-1, func(e *correlator.Event) {
		switch {
		case e.IsEvent() || !correlator.Names(e, a.Node):
		case e.Failed():
			complained = true
		case (e.Own(identity.Task) == a.Task || strings.Contains(e.Text, task)) && holds(e.Text, inOwnQueue):
			own = append(own, e)
		}
	})
	beats := false
	if len(own) > 0 {
		c.Each(a.Over.At-int64(time.Minute), c.Now, func(e *correlator.Event) { beats = beats || e.Service == own[0].Service && correlator.Names(e, a.Node) })
	}
	if complained || !beats || len(own) < 2 || own[len(own)-1].At-own[0].At < apart {
		return nil
	}
	last := own[len(own)-1]
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: a.Taken.At, Records: []*correlator.Event{a.Taken, own[0], last, a.Over},
		Summary: "the agent of " + a.Node + " claimed the task, and left it in its own queue" + quote(last),
	}}
}

// busyOf finds how many executors an agent says are busy, of how many.
var busyOf = regexp.MustCompile(`\b(\d{1,3})/(\d{1,3}) (busy|in use|occupied|free|idle|available)\b`)

// allBusy needs an attempt that was taken and lost, and the agent's own count, all of all, at two times so far apart that what it is busy with does not end.
func allBusy(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const apart = int64(4 * time.Minute)
	if t.Attempt == nil || t.Attempt.Over == nil || t.Attempt.Over.To() != semconv.Lost && t.Attempt.Over.To() != semconv.Expired || t.Node == "" {
		return nil
	}
	begin, did, before := t.Attempt.Taken, "took the task", int64(0)
	if begin == nil {
		begin, did, before = t.Attempt.Queued, "was sent a task that it never took", recently // it was full already
	}
	if begin == nil {
		return nil
	}
	var full []*correlator.Event
	room := false
	c.Each(begin.At-before, t.At, func(e *correlator.Event) {
		if e.IsEvent() || e.Party() != semconv.LayerNodeAgent || !correlator.Names(e, t.Node) {
			return
		}
		if m := busyOf.FindStringSubmatch(e.Text); m != nil {
			isFull := m[1] == m[2]
			if m[3] == "free" || m[3] == "idle" || m[3] == "available" {
				isFull = m[1] == "0" && m[2] != "0"
			}
			if isFull {
				full = append(full, e)
			} else {
				room = true
			}
		}
	})
	if room || len(full) < 2 || full[len(full)-1].At-full[0].At < apart {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: full[0].At, Records: append(full[:min(len(full), ownWords):min(len(full), ownWords)], begin, t.Attempt.Over),
		Summary: "the agent of " + t.Node + " " + did + ", and all of its executors stayed busy" + quote(full[len(full)-1]),
	}}
}

// unbegun is how long an agent may hold what it claimed before it begins it: whatever it prepares first takes minutes.
const unbegun = int64(10 * time.Minute)

// holdsUnbegun needs a claim without a beginning, renewals into its second half and no other word of it, and neither a complaint of the agent nor
// of its node.
func holdsUnbegun(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	a := t.Attempt
	if a == nil || a.Taken == nil || a.Over == nil || a.Over.To() != semconv.Expired || a.Taken.To() != semconv.Dispatched || a.Node == "" {
		return nil
	}
	var renewed []*correlator.Event
	began, complained := false, false
	c.Each(a.Taken.At+1, a.Over.At-1, func(e *correlator.Event) {
		switch {
		case !e.IsEvent() && e.Failed() && correlator.Names(e, a.Node):
			complained = true
		case e.Own(identity.Task) != a.Task || e.Is(semconv.EventHeartbeat):
		case e.Layer == semconv.LayerNodeAgent && !e.IsEvent() && strings.Contains(e.Text, "renew"):
			renewed = append(renewed, e)
		default:
			began = true
		}
	})
	if began || complained || len(renewed) < 3 || renewed[len(renewed)-1].At-a.Taken.At < max(unbegun, (a.Over.At-a.Taken.At)/2) {
		return nil
	}
	done := false
	c.Each(a.Over.At+1, c.Now, func(e *correlator.Event) {
		done = done || e.Own(identity.Task) == a.Task && (e.To() == semconv.Succeeded || !e.IsEvent() && e.Layer == semconv.LayerNodeAgent && !e.Failed() && holds(e.Text, goesWell))
	})
	if done {
		return nil // it was at work, and had no time
	}
	last := renewed[len(renewed)-1]
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Certain: true, Onset: a.Taken.At, Records: []*correlator.Event{a.Taken, renewed[0], last, a.Over},
		Summary: "the agent of " + a.Node + " claimed the task and renewed its lease for " + time.Duration(last.At-a.Taken.At).Round(time.Second).String() + ", and never began it" + quote(last),
	}}
}

// sits needs two lost claims of one task by one node, a heartbeat of the agent late in the last of them, and no more than its acceptance from it.
func sits(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Attempt == nil || t.Attempt.Taken == nil || t.Attempt.Over == nil || t.Attempt.Over.To() != semconv.Lost || t.Node == "" {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Caller}
	claims := 0
	var beat *correlator.Event
	for _, a := range c.Lifecycle.Tasks {
		if a.Task != t.Attempt.Task || a.Node != t.Attempt.Node || a.Taken == nil || a.Over == nil || a.Over.To() != semconv.Lost {
			continue
		}
		said, complained := 0, false
		taken, over := a.Taken.At, a.Over.At
		c.Each(taken, over, func(e *correlator.Event) {
			if !correlator.Names(e, t.Node) {
				return
			}
			switch {
			case e.Is(semconv.EventHeartbeat):
				if c.Shows(e, semconv.LayerNodeAgent) && e.At > taken+(over-taken)/4 {
					beat = e
				}
			case e.IsEvent():
			case e.Failed():
				complained = true
			case e.Layer == semconv.LayerNodeAgent && e.Own(identity.Task) != "":
				said++
			}
		})
		if complained || said > 2 || over-taken < int64(2*time.Minute) {
			return nil
		}
		claims++
		ev.Records = append(ev.Records, a.Taken, a.Over)
	}
	if claims < 2 || beat == nil {
		return nil
	}
	ev.Onset, ev.Certain = ev.Records[0].At, claims > 2
	ev.Records = append(ev.Records, beat)
	ev.Summary = "the agent of " + t.Node + " is alive, claimed the task and did nothing of it, more than once"
	return []correlator.Evidence{ev}
}
