package identity

import (
	"iter"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Kind says what an identifier identifies.
type Kind uint8

// The kinds that code asks for by name; what is particular to each stands in the table.
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
)

// Storage says where the store keeps a record's first identifier of a kind. Second ones stand in keys_rest.
type Storage uint8

// The ways of storage.
const (
	InList   Storage = iota // in keys_rest, as "task:t-1"
	InColumn                // in a column of its own, named as the attribute: half of all records carry one
	InField                 // in a column that OTLP's own field fills
)

type traits struct {
	name, attribute string
	immovable       bool
	storage         Storage
}

// table is the one list of kinds: profiles, the index, stamps, the exporter's columns and the search go by it. Its order is the order
// of strength in which a record's own keys are asked for its allocation. A kind that no code names
// needs a line at the end and no constant.
var table = [...]traits{
	NoKind:       {},
	Allocation:   {"allocation", semconv.AllocationID, false, InColumn},
	Workflow:     {"workflow", semconv.WorkflowID, true, InColumn},
	Task:         {"task", semconv.TaskID, true, InList},
	Claim:        {"claim", semconv.ClaimID, true, InList},
	ProviderJob:  {"provider_job", semconv.ProviderJob, true, InList},
	Outbox:       {"outbox", semconv.OutboxID, true, InList},
	Resource:     {"resource", semconv.ResourceUID, true, InList},
	Correlation:  {"correlation", semconv.CorrelationID, true, InColumn},
	Request:      {"request", semconv.RequestID, true, InList},
	Trace:        {"trace", semconv.TraceID, true, InField},
	NodeInstance: {"node_instance", semconv.NodeInstanceID, false, InColumn},
	Node:         {"node", semconv.NodeID, false, InColumn},
	Boot:         {"boot", semconv.BootID, false, InList},
}

// MaxKinds bounds what is kept by kind, NoKind included. Raise it where it does not suffice: sets of kinds are bits of 32, of which whoever stamps takes three more.
const MaxKinds = 20

// kinds is how many there are.
const kinds = Kind(len(table))

const _ = uint(MaxKinds - kinds) // does not compile with more

// immovables is a bit for each immovable kind: the index asks for every key of every record.
var immovables = func() (set uint32) {
	for k := range table {
		if table[k].immovable {
			set |= 1 << k
		}
	}
	return set
}()

// Kinds gives every kind but NoKind, in order of strength.
func Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for k := Allocation; k < kinds && yield(k); k++ {
		}
	}
}

// String is the name that identity.binding events use: "allocation", "workflow", …
func (k Kind) String() string { return k.traits().name }

// Attribute is the key under which records carry it: "allocation_id", "workflow_id", …
func (k Kind) Attribute() string { return k.traits().attribute }

// Storage says where the store keeps it.
func (k Kind) Storage() Storage { return k.traits().storage }

// Immovable says that a subject of this kind belongs to one allocation for ever, so that any record
// which carries it beside another identifier is a binding. Of the others a node moves between allocations and
// instances over time, an instance and a boot belong to one node, and new ones are carried and searched for only.
func (k Kind) Immovable() bool { return immovables&(1<<k) != 0 }

func (k Kind) traits() *traits {
	if k >= kinds {
		k = NoKind
	}
	return &table[k]
}

// ParseKind reads the name of a kind; NoKind where there is none of that name.
func ParseKind(name string) Kind {
	for k := Allocation; k < kinds; k++ {
		if table[k].name == name {
			return k
		}
	}
	return NoKind
}

// KindOfAttribute reads the attribute of a kind ("task_id"); NoKind for any other attribute.
func KindOfAttribute(name string) Kind {
	for k := Allocation; k < kinds; k++ {
		if table[k].attribute == name {
			return k
		}
	}
	return NoKind
}
