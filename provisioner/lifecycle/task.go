package lifecycle

import (
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// TaskMove is one line of the table of a task's states.
type TaskMove struct{ From, To, Trigger string }

// TaskMoves is the whole machine. lost is passed through: the same task is offered again with a higher
// fence, or fails when its claims are used up.
func TaskMoves() []TaskMove {
	return []TaskMove{
		{"", semconv.Queued, "workflow step"},
		{semconv.Queued, semconv.Dispatched, "claim"},
		{semconv.Queued, semconv.Expired, "not claimed before expires_at"},
		{semconv.Queued, semconv.Canceled, "workflow canceled"},
		{semconv.Queued, semconv.Failed, "claims used up"},
		{semconv.Dispatched, semconv.Running, "first renewal"},
		{semconv.Dispatched, semconv.Succeeded, "result"},
		{semconv.Dispatched, semconv.Failed, "result"},
		{semconv.Dispatched, semconv.Canceled, "workflow canceled"},
		{semconv.Dispatched, semconv.Lost, "lease ended without a result"},
		{semconv.Running, semconv.Succeeded, "result"},
		{semconv.Running, semconv.Failed, "result"},
		{semconv.Running, semconv.Canceled, "workflow canceled"},
		{semconv.Running, semconv.Lost, "lease ended without a result"},
		{semconv.Lost, semconv.Queued, "offered again"},
		{semconv.Lost, semconv.Failed, "claims used up"},
	}
}

// MoveTask says whether the task may go from one state to another, nil if it may.
func MoveTask(id, from, to string) error {
	for _, m := range TaskMoves() {
		if m.From == from && m.To == to {
			return nil
		}
	}
	return &Refusal{Reason: IllegalMove, Subject: "task " + id, From: from, To: to}
}

// TaskOpen says whether a task may still change.
func TaskOpen(state string) bool {
	switch state {
	case semconv.Queued, semconv.Dispatched, semconv.Running, semconv.Lost:
		return true
	}
	return false
}

// Claim is one agent's hold on a task.
type Claim struct {
	ID         string
	Fence      int64 // rises with every claim of the task; only the highest may report
	InstanceID string
	LeaseUntil time.Time
}

// CheckClaim says whether a report under a claim counts for a task in the given state whose current
// claim is the given one, nil if it does. A lease that has ended is the sweeper's business: until the
// task is offered again, a late report under the current fence is still the truth.
func CheckClaim(task, state string, current, presented Claim) error {
	refuse := func(r Reason) error { return Refuse(r, "task "+task, "") }
	switch {
	case presented.Fence < current.Fence:
		return refuse(StaleFence)
	case presented.ID != current.ID || presented.Fence != current.Fence:
		return refuse(WrongClaim)
	case presented.InstanceID != current.InstanceID:
		return refuse(SupersededInstance)
	case state == semconv.Lost || state == semconv.Queued:
		return refuse(LeaseEnded)
	case !TaskOpen(state):
		return refuse(TaskOver)
	}
	return nil
}
