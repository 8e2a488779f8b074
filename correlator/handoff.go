package correlator

import (
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Handoff is one order on its way: who asked whom for what, and how far it is proven to have come.
type Handoff struct {
	From, To string // layers
	What     string // for people: "provider job aap/prod/job/7"
	State    handoffState
	At       int64    // when that state was proven
	Proof    []*Event // what proves it, in order
}

// handoffState is how far an order is proven to have come.
type handoffState string

// The states, in the order in which an order comes through them. Answered and Refused are its ends.
const (
	handoffSent     handoffState = "sent"
	handoffAccepted handoffState = "accepted"
	HandoffAtWork   handoffState = "at_work"
	handoffAnswered handoffState = "answered"
	handoffRefused  handoffState = "refused"
)

// open says whether whoever was asked still owes an answer.
func (h *Handoff) open() bool { return h.State == handoffAccepted || h.State == HandoffAtWork }

// handoffs lists the orders of an allocation as they stood at a time, from the outbox inwards: rows of the outbox, runs of
// workflows, provider jobs, tasks. What had not begun by then is not listed.
func (c *Case) handoffs(at int64) []Handoff {
	var out []Handoff
	for _, o := range c.Lifecycle.Outbox {
		if change := o.at(at); change != nil {
			h := Handoff{From: semconv.LayerAPI, To: semconv.LayerOutbox, What: "outbox record " + o.ID, State: handoffAccepted, At: change.At, Proof: []*Event{change.Event}}
			if change.To == semconv.Published {
				h.State = handoffAnswered
			}
			out = append(out, h)
		}
	}
	for _, w := range c.Lifecycle.Workflows {
		if change := w.at(at); change != nil {
			h := Handoff{From: semconv.LayerOutbox, To: semconv.LayerWorkflow, What: "workflow " + w.ID, State: HandoffAtWork, At: change.At, Proof: []*Event{change.Event}}
			switch change.To {
			case semconv.Scheduled:
				h.State = handoffSent
			case semconv.Running, semconv.Waiting, semconv.CancelRequested:
			default:
				h.State = handoffAnswered
			}
			out = append(out, h)
		}
	}
	for _, j := range c.Lifecycle.Jobs {
		if h, ok := c.jobHandoff(j, at); ok {
			out = append(out, h)
		}
	}
	for _, a := range c.Lifecycle.Tasks {
		if h, ok := taskHandoff(a, at); ok {
			out = append(out, h)
		}
	}
	return out
}

// Frontier is the last order that was accepted and not answered at a time, nil where there is none: whoever holds it owes
// the answer.
func (c *Case) Frontier(at int64) *Handoff {
	all := c.handoffs(at)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].open() {
			return &all[i]
		}
	}
	return nil
}

// jobHandoff is how far a provider's job had come. Its being asked after with success shows it at work.
func (c *Case) jobHandoff(j *Run, at int64) (Handoff, bool) {
	change := j.at(at)
	if change == nil {
		return Handoff{}, false
	}
	h := Handoff{From: semconv.LayerWorkflow, To: semconv.LayerProvider, What: "provider job " + j.ID, State: handoffAccepted, At: change.At, Proof: []*Event{change.Event}}
	switch {
	case jobOver(change.To):
		h.State = handoffAnswered
	case strings.EqualFold(change.To, "running"):
		h.State = HandoffAtWork
	}
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventProviderPoll}).own {
		if h.open() && e.At > change.At && e.At <= at && e.Own(identity.ProviderJob) == j.ID && e.Attr(semconv.PollOK) == "true" {
			h.State, h.At, h.Proof = HandoffAtWork, e.At, []*Event{change.Event, e}
		}
	}
	return h, true
}

// taskHandoff is how far a task had come.
func taskHandoff(a *Attempt, at int64) (Handoff, bool) {
	h := Handoff{From: semconv.LayerWorkflow, To: semconv.LayerNodeAgent, What: join("task", a.Task, parenthesis(a.Type))}
	for _, step := range []struct {
		event *Event
		state handoffState
	}{{a.Queued, handoffSent}, {a.Taken, handoffAccepted}, {a.Over, handoffAnswered}} {
		if step.event != nil && step.event.At <= at {
			h.State, h.At, h.Proof = step.state, step.event.At, append(h.Proof, step.event)
		}
	}
	for _, s := range a.Signs {
		if s.To() == semconv.Rejected && s.At <= at {
			h.State, h.At, h.Proof = handoffRefused, s.At, append(h.Proof, s)
		}
		if h.State == handoffAccepted && s.At <= at && s.At > h.At {
			h.State, h.At, h.Proof = HandoffAtWork, s.At, append(h.Proof, s)
		}
	}
	return h, h.State != ""
}

// HandoffState is a handoff as an answer tells it.
type HandoffState struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	What  string   `json:"what"`
	State string   `json:"state"`
	At    Time     `json:"at"`
	Proof []string `json:"proof"` // refs
	// Frontier marks the last order with proof that it arrived and none that it was answered.
	Frontier bool `json:"frontier"`
}

// handoffStates tells of all handoffs as they stand now.
func (c *Case) handoffStates() []HandoffState {
	out, frontier := []HandoffState{}, c.Frontier(c.Now)
	for _, h := range c.handoffs(c.Now) {
		out = append(out, HandoffState{
			h.From, h.To, h.What, string(h.State), Time(h.At), refs(h.Proof), frontier != nil && frontier.What == h.What && frontier.At == h.At,
		})
	}
	return out
}
