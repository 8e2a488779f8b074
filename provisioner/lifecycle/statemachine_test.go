package lifecycle

import "github.com/faultline-io/faultline/internal/semconv"

// StateMachine is one kind of thing with its table, for documentation and for tests over all of them.
type StateMachine struct {
	Of    string
	What  string // whose states these are, in words
	Lines []Line
}

// Line is one move.
type Line struct {
	From, To, Trigger string
	Guard             string   // "": always
	Refusals          []Reason // of the guard
}

// StateMachines lists all of them.
func StateMachines() []StateMachine {
	return []StateMachine{
		stateMachine(OfAllocation, "Allocations", allocationMoves),
		stateMachine(OfNode, "Occupancy of nodes", nodeMoves),
		stateMachine(OfInstance, "Node instances", instanceMoves),
		stateMachine(OfWorkflow, "Workflows", workflowMoves),
		stateMachine(OfTask, "Tasks", taskMoves),
		stateMachine(OfMessage, "Messages of the outbox", messageMoves),
		stateMachine(OfJob, "Providers' jobs (phases)", jobMoves),
	}
}

func stateMachine[F any](of, what string, table []Move[F]) StateMachine {
	m := StateMachine{Of: of, What: what}
	for _, l := range table {
		line := Line{From: l.From, To: l.To, Trigger: l.Trigger}
		if l.Guard != nil {
			line.Guard, line.Refusals = l.Guard.Name, l.Guard.Refusals
		}
		m.Lines = append(m.Lines, line)
	}
	return m
}

// UnusedState is a state that the telemetry contract knows and this controller never uses, and why.
type UnusedState struct{ Of, State, Why string }

// UnusedStates lists them: controllers of other platforms may use these states, and readers understand them.
func UnusedStates() []UnusedState {
	return []UnusedState{
		{OfNode, "unknown", "The controller decides who has a node, so it always knows."},
		{OfInstance, semconv.Lost, "An agent that is not heard of loses its claim by the lease. Its node instance stays the node's until another one enrols: it may be back any moment."},
		{OfWorkflow, semconv.TimedOut, "What has a deadline is a task, a provider's job or the placement. When that lapses, the workflow gives up and fails with it as the reason."},
		{OfWorkflow, semconv.Terminated, "Nobody may end a workflow without what it owes: a cancel leads through cleanup."},
		{OfTask, semconv.Rejected, "Told of a report that does not count (a stale fence, another's claim). The task itself stays in its state."},
		{OfTask, semconv.Superseded, "Claims of a node instance that was superseded lose their lease at once: the task is lost, and offered again under a higher fence."},
	}
}
