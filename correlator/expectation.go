package correlator

import (
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Expectation is a step of a lifecycle: what must follow what, owed by whom, within what. The budgets are the
// profile's; where there is enough history, what such steps really took decides instead.
type Expectation struct {
	Step    string // "task.claim", as durations are kept under it; a kind follows where steps differ: "task.run:wipe"
	After   string // what opens the obligation
	Expects string // what fulfils it
	Owes    string // the layer that has to move; "" where the newest open workflow or job says who
}

// The steps.
const (
	stepClaim   = "task.claim"
	stepRun     = "task.run"
	stepPublish = "outbox.publish"
	stepCancel  = "job.cancel"
	stepJob     = "job"
	stepState   = "state"
)

// Expectations lists the steps in the order in which they are looked at: the deepest first, because a task that
// nobody claims is why its allocation does not move.
func Expectations() []Expectation {
	return []Expectation{
		{stepClaim, "task.state queued", "task.state dispatched", semconv.LayerNodeAgent},
		{stepRun, "task.state dispatched, or the last sign of life", "task.state succeeded or failed, before lease_until", semconv.LayerNodeAgent},
		{stepPublish, "outbox.record pending", "outbox.record published", semconv.LayerOutbox},
		{stepCancel, "the end was asked for while a provider job ran", "provider_job.state Canceled, Failed or Succeeded", semconv.LayerProvider},
		{stepJob, "provider_job.state Pending, Waiting or Running", "provider_job.state Canceled, Failed or Succeeded", semconv.LayerProvider},
		{stepState, "allocation.state", "the next allocation.state", ""},
	}
}

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
	return c.AliveBetween(o.Owes, o.Deadline+1, c.Now)
}

// trouble is an obligation that was not met in time.
func (o *Obligation) trouble() *Trouble {
	t := &Trouble{Kind: OverdueTrouble, From: o.Since, At: o.Deadline, Owes: o.Owes, What: o.What, Cites: o.Cites}
	if o.Attempt != nil {
		t.Node, t.Instance, t.Attempt = o.Attempt.Node, o.Attempt.Instance, o.Attempt
	}
	return t
}
