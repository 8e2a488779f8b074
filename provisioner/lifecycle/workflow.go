package lifecycle

import (
	"github.com/faultline-io/faultline/internal/semconv"
)

// Operations of an allocation; each run of one is a workflow.
const (
	OperationProvision = "provision"
	OperationRelease   = "release"
	OperationCancel    = "cancel"
)

// WorkflowFacts are none: what a workflow may do hangs on its steps' outcomes, and those on other tables.
type WorkflowFacts struct{}

// WorkflowMove is one line of the table of a workflow's states.
type WorkflowMove = Move[WorkflowFacts]

// workflowMoves is the whole state machine.
var workflowMoves = []WorkflowMove{
	{"", semconv.Scheduled, "message", nil},
	{semconv.Scheduled, semconv.Running, "first step", nil},
	{semconv.Running, semconv.Waiting, "a task, a provider, a timer or capacity is awaited", nil},
	{semconv.Waiting, semconv.Running, "what was awaited came", nil},
	{semconv.Running, semconv.Completed, "last step", nil},
	{semconv.Running, semconv.Failed, "gave up", nil},
	{semconv.Scheduled, semconv.CancelRequested, "cancel", nil},
	{semconv.Running, semconv.CancelRequested, "cancel", nil},
	{semconv.Waiting, semconv.CancelRequested, "cancel", nil},
	{semconv.CancelRequested, semconv.Canceled, "work stopped", nil},
}

// MoveWorkflow reports whether the workflow may go from one state to another, nil if it may.
func MoveWorkflow(id, from, to string) error {
	return decide(workflowMoves, OfWorkflow, id, from, to, WorkflowFacts{}, "")
}

// WorkflowOpen reports whether a workflow still has steps to do.
func WorkflowOpen(state string) bool {
	return state == semconv.Scheduled || state == semconv.Running || state == semconv.Waiting || state == semconv.CancelRequested
}
