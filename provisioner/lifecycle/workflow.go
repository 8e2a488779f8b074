package lifecycle

import "github.com/faultline-io/faultline/internal/semconv"

// Operations of an allocation; each run of one is a workflow.
const (
	OperationProvision = "provision"
	OperationRelease   = "release"
	OperationCancel    = "cancel"
)

// WorkflowMove is one line of the table of a workflow's states.
type WorkflowMove struct{ From, To, Trigger string }

// WorkflowMoves is the whole machine.
func WorkflowMoves() []WorkflowMove {
	return []WorkflowMove{
		{"", semconv.Scheduled, "message"},
		{semconv.Scheduled, semconv.Running, "first step"},
		{semconv.Running, semconv.Waiting, "a task, a timer or capacity is awaited"},
		{semconv.Waiting, semconv.Running, "what was awaited came"},
		{semconv.Running, semconv.Completed, "last step"},
		{semconv.Running, semconv.Failed, "gave up"},
		{semconv.Scheduled, semconv.CancelRequested, "cancel"},
		{semconv.Running, semconv.CancelRequested, "cancel"},
		{semconv.Waiting, semconv.CancelRequested, "cancel"},
		{semconv.CancelRequested, semconv.Canceled, "work stopped"},
	}
}

// MoveWorkflow says whether the workflow may go from one state to another, nil if it may.
func MoveWorkflow(id, from, to string) error {
	for _, m := range WorkflowMoves() {
		if m.From == from && m.To == to {
			return nil
		}
	}
	return &Refusal{Reason: IllegalMove, Subject: "workflow " + id, From: from, To: to}
}

// WorkflowOpen says whether a workflow still has steps to do.
func WorkflowOpen(state string) bool {
	return state == semconv.Scheduled || state == semconv.Running || state == semconv.Waiting || state == semconv.CancelRequested
}
