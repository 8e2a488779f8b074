package identity

import "github.com/faultline-io/faultline/internal/semconv"

// Kind says what an identifier identifies. The order of the constants from Workflow to Trace is the
// order of strength in which a record's own keys are asked for its allocation (telemetry contract §2).
type Kind uint8

// The kinds. Allocation to Trace belong to at most one allocation and never move; NodeInstance and
// Boot belong to one machine; a Node moves between allocations and installations over time.
const (
	NoKind Kind = iota
	Allocation
	Workflow
	Task
	Claim
	ProviderJob
	Outbox
	Resource
	Correlation
	Request
	Trace
	NodeInstance
	Node
	Boot
	kinds // how many there are, NoKind included
)

var names = [kinds]string{
	"", "allocation", "workflow", "task", "claim", "provider_job", "outbox", "resource", "correlation",
	"request", "trace", "node_instance", "node", "boot",
}

var attributes = [kinds]string{
	"", semconv.AllocationID, semconv.WorkflowID, semconv.TaskID, semconv.ClaimID, semconv.ProviderJob,
	semconv.OutboxID, semconv.ResourceUID, semconv.CorrelationID, semconv.RequestID, semconv.TraceID,
	semconv.NodeInstanceID, semconv.NodeID, semconv.BootID,
}

// String is the name that identity.binding events use: "allocation", "workflow", …
func (k Kind) String() string {
	if k >= kinds {
		return ""
	}
	return names[k]
}

// Attribute is the key under which records carry it: "allocation_id", "workflow_id", …
func (k Kind) Attribute() string {
	if k >= kinds {
		return ""
	}
	return attributes[k]
}

// Immovable says that a subject of this kind belongs to one allocation for ever, so that any record
// which carries it beside another identifier is a binding.
func (k Kind) Immovable() bool { return k >= Workflow && k <= Trace }

// ParseKind reads the name of a kind; NoKind where there is none of that name.
func ParseKind(name string) Kind {
	for k := Allocation; k < kinds; k++ {
		if names[k] == name {
			return k
		}
	}
	return NoKind
}

// KindOfAttribute reads the attribute of a kind ("task_id"); NoKind for any other attribute.
func KindOfAttribute(name string) Kind {
	for k := Allocation; k < kinds; k++ {
		if attributes[k] == name {
			return k
		}
	}
	return NoKind
}
