package lifecycle

import (
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// TaskFacts are what guards of tasks look at.
type TaskFacts struct {
	Claim     Claim     // as the move leaves it
	ExpiresAt time.Time // unclaimed until then
	Now       time.Time
}

// TaskMove is one line of the table of a task's states.
type TaskMove = Move[TaskFacts]

// taskMoves is the whole state machine. lost is passed through: the same task is offered again with a higher
// fence, or fails when its claims are used up. Whose result counts, CheckClaim has said before.
var taskMoves = []TaskMove{
	{"", semconv.Queued, "workflow step", nil},
	{semconv.Queued, semconv.Dispatched, "claim", claimWhole},
	{semconv.Queued, semconv.Expired, "not claimed before expires_at", expired},
	{semconv.Queued, semconv.Canceled, "workflow canceled", nil},
	{semconv.Dispatched, semconv.Running, "first renewal", claimWhole},
	{semconv.Dispatched, semconv.Succeeded, "result", nil},
	{semconv.Dispatched, semconv.Failed, "result", nil},
	{semconv.Dispatched, semconv.Canceled, "workflow canceled", nil},
	{semconv.Dispatched, semconv.Lost, "lease ended without a result", leaseOver},
	{semconv.Running, semconv.Succeeded, "result", nil},
	{semconv.Running, semconv.Failed, "result", nil},
	{semconv.Running, semconv.Canceled, "workflow canceled", nil},
	{semconv.Running, semconv.Lost, "lease ended without a result", leaseOver},
	{semconv.Lost, semconv.Queued, "offered again", nil},
	{semconv.Lost, semconv.Failed, "claims used up", nil},
}

// MoveTask reports whether the task may go from one state to another, nil if it may.
func MoveTask(id, from, to string, f TaskFacts) error {
	return decide(taskMoves, OfTask, id, from, to, f, "")
}

// Guards of tasks.
var (
	claimWhole = guard("claim_whole", ClaimIncomplete, func(f TaskFacts) bool {
		return f.Claim.ID != "" && f.Claim.Fence > 0 && f.Claim.InstanceID != "" && f.Claim.LeaseUntil.After(f.Now)
	})
	expired   = guard("expired", NotOverdue, func(f TaskFacts) bool { return !f.ExpiresAt.After(f.Now) })
	leaseOver = guard("lease_over", NotOverdue, func(f TaskFacts) bool { return !f.Claim.LeaseUntil.After(f.Now) })
)

// TaskOpen reports whether a task may still change.
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

// CheckClaim reports whether a report under a claim counts for a task in the given state whose current
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
