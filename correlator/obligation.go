package correlator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// The steps of a lifecycle, each with what opens its obligation and what fulfils it; durations are kept under these names, and a
// kind follows where steps differ ("task.run:wipe"). They are looked at in this order, the deepest first, because a task that
// nobody claims is why its allocation does not move. The budgets are the profile's; where there is enough history, what
// such steps really took decides instead.
const (
	stepClaim   = "task.claim"     // task.state queued → dispatched; the node agent owes it
	stepRun     = "task.run"       // dispatched, or the last sign of life → succeeded or failed, before lease_until; the node agent
	stepPublish = "outbox.publish" // outbox.record pending → published; the outbox
	stepAsk     = "ask"            // a user's audit.action release or cancel → any move; the API that took it
	stepCancel  = "job.cancel"     // the end was asked for while a provider job ran → Canceled, Failed or Succeeded; the provider
	stepJob     = "job"            // provider_job.state Pending, Waiting or Running → Canceled, Failed or Succeeded; the provider
	stepState   = "state"          // allocation.state → the next one; whom the newest open workflow or job waits for
)

// Obligation is a step that began and has not ended.
type Obligation struct {
	Step  string
	What  string // for people: "task t-3 (wipe) is queued and not claimed"
	Owes  string // the layer that has to move, "" where nobody can tell
	Since int64
	// Deadline is when it should have been done. Learnt says that history, not the profile, set it.
	Deadline int64
	Learnt   bool
	Cites    []*Event // what opened it
	Attempt  *Attempt // of a task
	Provider string   // of a job
}

// Budget is how long the step may take.
func (o *Obligation) Budget() time.Duration { return time.Duration(o.Deadline - o.Since) }

// Overdue says whether its time is over.
func (o *Obligation) Overdue(now int64) bool { return now > o.Deadline }

// SeenAfter is the newest sign of life of the party that owes the step since its deadline, nil where there is
// none: then nobody can tell whether it is late or silent.
func (c *Case) SeenAfter(o *Obligation) *Event {
	switch {
	case o.Owes == "":
		return nil
	case o.Attempt != nil && o.Attempt.Node != "":
		return c.aliveOn(o.Owes, o.Attempt.Node, o.Deadline+1, c.Now)
	}
	e := c.AliveBetween(o.Owes, o.Deadline+1, c.Now)
	if e != nil && elsewhere(e, o.Provider, c.ID) {
		return nil
	}
	return e
}

// Elsewhere says whether a sign of life is that of another provider than the one that runs the job which is owed.
func (t *Trouble) Elsewhere(e *Event) bool { return elsewhere(e, t.Provider, t.Cites[0].Allocation) }

// elsewhere says whether a sign of life is that of a provider that does not run the job: one that events trigger and one that runs
// playbooks are two systems (docs/domain.md).
func elsewhere(e *Event, provider, allocation string) bool {
	const eventDriven = "eda"
	mine, theirs := strings.EqualFold(provider, eventDriven), strings.Contains(strings.ToLower(e.Service+" "+e.Attr(semconv.Component)), eventDriven)
	return mine && !theirs && (e.Own(identity.Allocation) != allocation || !e.IsEvent())
}

// trouble is an obligation that was not met in time.
func (o *Obligation) trouble() *Trouble {
	t := &Trouble{Kind: OverdueTrouble, From: o.Since, At: o.Deadline, Owes: o.Owes, What: o.What, Cites: o.Cites, Provider: o.Provider}
	if o.Attempt != nil {
		t.Node, t.Instance, t.Attempt = o.Attempt.Node, o.Attempt.Instance, o.Attempt
	}
	return t
}

// Obligations lists the steps of an allocation that began and have not ended, the deepest first. One that has
// no budget is not listed, and a terminal allocation owes nothing.
func (c *Case) Obligations() []*Obligation {
	state, since, ok := c.Lifecycle.State()
	if !ok || terminal(state) && state != semconv.Active {
		return nil
	}
	b := c.Profile.Budgets()
	var out []*Obligation
	owe := func(o *Obligation, budget time.Duration) {
		if by, ok := learnt(c.Durations, o.Step); ok {
			budget, o.Learnt = by, true
		}
		if budget > 0 {
			o.Deadline = o.Since + int64(budget)
			out = append(out, o)
		}
	}
	for _, a := range c.Lifecycle.Tasks {
		switch {
		case a.Over != nil || c.wentOnWithout(a):
		case a.Taken == nil && a.Queued != nil:
			owe(&Obligation{
				Step: stepOf(stepClaim, a.Type), What: join("task", a.Task, parenthesis(a.Type), "is queued and not claimed"), Owes: semconv.LayerNodeAgent,
				Since: a.Queued.At, Cites: []*Event{a.Queued}, Attempt: a,
			}, b.TaskClaim)
		case a.Taken != nil:
			out = c.owesResult(out, a)
		}
	}
	for _, o := range c.Lifecycle.Outbox {
		if o.Last().To == semconv.Pending {
			owe(&Obligation{
				Step: stepPublish, What: join("outbox record", o.ID, "is not published"), Owes: semconv.LayerOutbox,
				Since: o.Changes[0].At, Cites: o.events(),
			}, b.Outbox)
		}
	}
	if e := c.askedAndNotBegun(since); e != nil && state == semconv.Active {
		owe(&Obligation{
			Step: stepAsk, What: e.Attr(semconv.Action) + " was asked for and nothing was begun", Owes: semconv.LayerAPI, Since: e.At, Cites: []*Event{e},
		}, b.States[semconv.Requested])
	}
	if state == semconv.Active {
		return out // what was asked for since stands in the outbox, or is a task; a job may stay unknown for ever (I14)
	}
	for _, j := range c.Lifecycle.Jobs {
		out = c.owesEnd(out, j)
	}
	entered := c.Lifecycle.States[len(c.Lifecycle.States)-1].Event
	if n := len(c.Lifecycle.Workflows); n > 0 && onPeople(c.Lifecycle.Workflows[n-1].Last().Event) {
		return out // slow as they may be, it is so as planned
	}
	owes, obligation := c.owesNext()
	o := &Obligation{Step: stepOf(stepState, state), Owes: owes, Since: since, Cites: distinct(obligation, entered)}
	if owe(o, b.States[state]); o.Deadline != 0 {
		o.What = fmt.Sprintf("%s for longer than %s", state, o.Budget())
		if obligation != nil {
			o.Deadline = max(o.Deadline, obligation.At+ownTime) // who gets it late is not late by that
		}
	}
	return out
}

// ownTime is what whoever is handed the next move has for it, however late he is handed it: long beside a handoff, and short beside any budget.
const ownTime = int64(10 * time.Second)

// askedAndNotBegun is the user's last wish for an end, on record since a state was entered, after which nothing moved: no state, no outbox record, no
// workflow, no job and no task. Nil where there is none.
func (c *Case) askedAndNotBegun(since int64) (asked *Event) {
	for _, e := range c.Events {
		switch {
		case e.At < since:
		case askedByUser(e):
			asked = e
		case asked != nil && (e.Moves() || e.Is(semconv.EventOutbox) || e.Is(semconv.EventWorkflowState)):
			return nil
		case asked != nil && isUserCall(e) && callFailed(e):
			return nil // who asked was told that it failed: that call is what is wrong
		}
	}
	return asked
}

// askedByUser says whether a user's act on record asks for the allocation's end.
func askedByUser(e *Event) bool {
	return e.Is(semconv.EventAudit) && e.Attr(semconv.ActorType) == "user" && slices.Contains([]string{"release", "cancel", "delete", "destroy", "force_release"}, strings.ToLower(e.Attr(semconv.Action)))
}

// wentOnWithout says whether the allocation got what it had asked for after a task was queued that nobody is known to have claimed: nobody waits
// for that one any longer.
func (c *Case) wentOnWithout(a *Attempt) bool {
	return a.Taken == nil && a.Queued != nil && c.Lifecycle.activeAfter(a.Queued.At) != 0
}

// owesResult adds what the holder of a claim owes: until its lease ends, or so long after its last sign of life.
func (c *Case) owesResult(out []*Obligation, a *Attempt) []*Obligation {
	last := a.Taken
	for _, s := range a.Signs {
		last = s
	}
	o := &Obligation{
		Step: stepOf(stepRun, a.Type), What: join("task", a.Task, parenthesis(a.Type), "is claimed and has no result"), Owes: semconv.LayerNodeAgent,
		Since: last.At, Cites: []*Event{last}, Attempt: a,
	}
	budget := c.Profile.Budgets().TaskLease
	if by, ok := learnt(c.Durations, o.Step); ok {
		budget, o.Learnt = by, true
	}
	if budget == 0 {
		return out
	}
	o.Deadline = last.At + int64(budget)
	if at, err := record.ParseTime(last.Attr(semconv.LeaseUntil)); err == nil {
		o.Deadline, o.Learnt = at, false // the platform's own word
	}
	return append(out, o)
}

// owesEnd adds a provider's job that is neither done nor called off. Unknown is no end: EDA says nothing else
// for ever, and then it is the allocation that must get ready.
func (c *Case) owesEnd(out []*Obligation, j *Run) []*Obligation {
	b, last := c.Profile.Budgets(), j.Last()
	switch strings.ToLower(last.To) {
	case "pending", "waiting", "running", "unknown":
	default:
		return out
	}
	what := join("provider job", j.ID, "is", strings.ToLower(last.To))
	if end := c.Lifecycle.Cancel; end != nil && end.At > j.Changes[0].At && b.Cancel > 0 && !strings.EqualFold(last.To, "unknown") {
		out = append(out, &Obligation{
			Step: stepCancel, What: what + " though its end was asked for", Owes: semconv.LayerProvider,
			Since: end.At, Deadline: end.At + int64(b.Cancel), Cites: append([]*Event{end}, j.events()...),
		})
	}
	o := &Obligation{Step: stepOf(stepJob, j.Operation), What: what, Owes: semconv.LayerProvider, Since: j.Changes[0].At, Cites: j.events(), Provider: last.Event.Attr(semconv.Provider)}
	budget := b.Provider
	if by, ok := learnt(c.Durations, o.Step); ok && !strings.EqualFold(last.To, "unknown") {
		budget, o.Learnt = by, true
	}
	if budget == 0 {
		return out
	}
	o.Deadline = o.Since + int64(budget)
	return append(out, o)
}

// overdueTroubles is the deepest obligation whose time is over. A step is overdue only if the party that owes
// it, or its layer, was seen after the deadline; otherwise nobody can tell: that is the rules' matter.
func overdueTroubles(c *Case) []*Trouble {
	for _, o := range c.Obligations() {
		if !o.Overdue(c.watermark()) {
			continue
		}
		if c.progresses(o) {
			return nil // it takes its time, and whoever waits for it with it
		}
		return []*Trouble{o.trouble()}
	}
	return nil
}

// Waits says whether an obligation's time is over and what met it may still be under way: the case is to be judged
// again when the watermark has passed it.
func (c *Case) Waits() bool {
	return c.watermark() < c.Now && slices.ContainsFunc(c.Obligations(), func(o *Obligation) bool {
		return o.Overdue(c.Now) && !o.Overdue(c.watermark())
	})
}

// taskOver is the end of the last task that came to one since a time, nil where one goes on: whoever waited for it
// has the next move.
func (c *Case) taskOver(since int64) (over *Event) {
	for _, a := range c.Lifecycle.Tasks {
		switch {
		case a.Over == nil:
			return nil
		case a.Over.At >= since && (over == nil || a.Over.At > over.At):
			over = a.Over
		}
	}
	return over
}

// jobsDone is the end of an allocation's last job, where each of them has succeeded; nil where one has not, or where there is none.
func (c *Case) jobsDone() (done *Event) {
	for _, j := range c.Lifecycle.Jobs {
		last := j.Last()
		if !strings.EqualFold(last.To, semconv.Succeeded) {
			return nil
		}
		if done == nil || last.At > done.At {
			done = last.Event
		}
	}
	return done
}

// owesNext is who has to move an allocation that stands still, where a workflow is known to be at it.
func (c *Case) owesNext() (layer string, obligation *Event) {
	for _, w := range slices.Backward(c.Lifecycle.Workflows) {
		last := w.Last()
		switch last.To {
		case semconv.Scheduled, semconv.Running:
			return semconv.LayerWorkflow, last.Event
		case semconv.Waiting:
			on := last.Event.Attr(semconv.WaitingOn)
			if strings.HasPrefix(on, "provider") {
				if done := c.jobDone(last.At); done != nil {
					return semconv.LayerWorkflow, done
				}
				if done := c.jobsDone(); done != nil {
					return semconv.LayerWorkflow, done // its end came before the workflow waited for it
				}
				return semconv.LayerProvider, last.Event
			}
			if over := c.taskOver(last.At); over != nil && strings.HasPrefix(on, "task") {
				return semconv.LayerWorkflow, over
			}
		}
	}
	// A job that has succeeded leaves the move to whoever launched it.
	for _, j := range slices.Backward(c.Lifecycle.Jobs) {
		if last := j.Last(); strings.EqualFold(last.To, "succeeded") {
			return semconv.LayerWorkflow, last.Event
		}
		break
	}
	return "", nil
}

// jobDone is the success of the job that was launched last, told since somebody waits for it, nil where it did not succeed since.
func (c *Case) jobDone(since int64) *Event {
	if len(c.Lifecycle.Jobs) == 0 {
		return nil
	}
	last := c.Lifecycle.Jobs[len(c.Lifecycle.Jobs)-1].Last()
	if last.At < since || !strings.EqualFold(last.To, semconv.Succeeded) {
		return nil
	}
	return last.Event
}

// progresses says whether whoever owes a step was heard to get on with it until now: lines of its own about this
// allocation, one unlike the other, that tell of no failure. Slow is no fault (docs/domain.md §4.10, rule 9), up to twice
// the time that the step has.
func (c *Case) progresses(o *Obligation) bool {
	if o.Owes != semconv.LayerProvider && o.Owes != semconv.LayerNodeAgent || c.Now > o.Deadline+int64(o.Budget()) {
		return false
	}
	const steps = 2
	half := o.Since + int64(o.Budget())/2
	said := map[string]bool{}
	last := int64(0)
	for _, e := range c.Events {
		if e.At > half && !e.IsEvent() && !e.fails && e.Party() == o.Owes && e.Body != "" && holdsDigit(e.Body) {
			said[e.Body] = true
			last = e.At
		}
	}
	return len(said) >= steps && c.Now-last <= int64(c.Profile.Budgets().Heartbeat)
}

func holdsDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }
