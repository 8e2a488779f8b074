package correlator

import (
	"time"
)

// The steps of a lifecycle, each with what opens its obligation and what fulfils it; durations are kept under these names, and a
// kind follows where steps differ ("task.run:wipe"). They are looked at in this order, the deepest first, because a task that
// nobody claims is why its allocation does not move. The budgets are the profile's; where there is enough history, what
// such steps really took decides instead.
const (
	stepClaim   = "task.claim"     // task.state queued → dispatched; the node agent owes it
	stepRun     = "task.run"       // dispatched, or the last sign of life → succeeded or failed, before lease_until; the node agent
	stepPublish = "outbox.publish" // outbox.record pending → published; the outbox
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
