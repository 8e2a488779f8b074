package correlator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// overdueTroubles says who owes the next move and whether its time is over. A step is overdue only if
// the party that owes it, or its layer, was seen after the deadline; otherwise nobody can tell.
func overdueTroubles(c *Case) []*Trouble {
	state, since, ok := c.Lifecycle.State()
	if !ok || terminal(state) {
		return nil
	}
	b := c.Profile.Budgets()
	for _, a := range c.Lifecycle.Tasks {
		if a.Over != nil {
			continue
		}
		switch {
		case a.Taken == nil && a.Queued != nil && b.TaskClaim > 0:
			if t := c.overdue(a.Queued, a.Queued.At+int64(b.TaskClaim), semconv.LayerNodeAgent, join("task", a.Task, parenthesis(a.Type), "is queued and not claimed")); t != nil {
				t.Node, t.Instance, t.Attempt = a.Node, a.Instance, a
				return []*Trouble{t}
			}
		case a.Taken != nil && b.TaskLease > 0:
			last := a.Taken
			for _, s := range a.Signs {
				last = s
			}
			deadline := last.At + int64(b.TaskLease)
			if at, err := record.ParseTime(last.Attr(semconv.LeaseUntil)); err == nil {
				deadline = at
			}
			if t := c.overdue(last, deadline, semconv.LayerNodeAgent, join("task", a.Task, parenthesis(a.Type), "is claimed and has no result")); t != nil {
				t.Node, t.Instance, t.Attempt = a.Node, a.Instance, a
				return []*Trouble{t}
			}
		}
	}
	for _, o := range c.Lifecycle.Outbox {
		if last := o.Last(); last.To == semconv.Pending && b.Outbox > 0 {
			if t := c.overdue(o.Changes[0].Event, o.Changes[0].At+int64(b.Outbox), semconv.LayerOutbox, join("outbox record", o.ID, "is not published")); t != nil {
				t.Cites = o.events()
				return []*Trouble{t}
			}
		}
	}
	for _, j := range c.Lifecycle.Jobs {
		if t := c.overdueJob(j); t != nil {
			return []*Trouble{t}
		}
	}
	budget, limited := b.States[state]
	if !limited {
		return nil
	}
	entered := c.Lifecycle.States[len(c.Lifecycle.States)-1].Event
	owes, obligation := c.owesNext()
	if t := c.overdue(entered, since+int64(budget), owes, fmt.Sprintf("%s for longer than %s", state, budget)); t != nil {
		t.Cites = distinct(obligation, entered)
		return []*Trouble{t}
	}
	return nil
}

// overdueJob is a provider's job that is neither done nor called off in time. Unknown is no end: EDA says
// nothing else for ever, and then it is the allocation that must get ready.
func (c *Case) overdueJob(j *Run) *Trouble {
	b := c.Profile.Budgets()
	last := j.Last()
	switch strings.ToLower(last.To) {
	case "pending", "waiting", "running", "unknown":
	default:
		return nil
	}
	what := join("provider job", j.ID, "is", strings.ToLower(last.To))
	if end := c.Lifecycle.Cancel; end != nil && end.At > j.Changes[0].At && b.Cancel > 0 && !strings.EqualFold(last.To, "unknown") {
		if t := c.overdue(last.Event, end.At+int64(b.Cancel), semconv.LayerProvider, what+" though its end was asked for"); t != nil {
			t.From, t.Cites = end.At, append([]*Event{end}, j.events()...)
			return t
		}
	}
	if b.Provider == 0 {
		return nil
	}
	t := c.overdue(last.Event, j.Changes[0].At+int64(b.Provider), semconv.LayerProvider, what)
	if t != nil {
		t.Cites = j.events()
	}
	return t
}

// events are the records of a run's moves.
func (r *Run) events() []*Event {
	out := make([]*Event, 0, len(r.Changes))
	for _, c := range r.Changes {
		out = append(out, c.Event)
	}
	return out
}

// owesNext is who has to move an allocation that stands still, where a workflow is known to be at it.
func (c *Case) owesNext() (layer string, obligation *Event) {
	for _, w := range slices.Backward(c.Lifecycle.Workflows) {
		last := w.Last()
		switch last.To {
		case semconv.Scheduled, semconv.Running:
			return semconv.LayerWorkflow, last.Event
		case semconv.Waiting:
			if on := last.Event.Attr(semconv.WaitingOn); on == "provider" || strings.HasPrefix(on, "provider") {
				return semconv.LayerProvider, last.Event
			}
		}
	}
	return "", nil
}

func (c *Case) overdue(obligation *Event, deadline int64, owes, what string) *Trouble {
	if c.Now <= deadline {
		return nil
	}
	return &Trouble{Kind: OverdueTrouble, From: obligation.At, At: deadline, Owes: owes, What: what, Cites: []*Event{obligation}}
}
