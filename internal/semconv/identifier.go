package semconv

// The five identifiers: one spelling in OTLP attributes, columns, JSON, baggage and log keys.
const (
	AllocationID   = "allocation_id"
	WorkflowID     = "workflow_id"
	CorrelationID  = "correlation_id"
	NodeID         = "node_id"
	NodeInstanceID = "node_instance_id"
)

// Keys that lead to the five.
const (
	TraceID     = "trace_id"
	RequestID   = "request_id"
	TaskID      = "task_id"
	ClaimID     = "claim_id"
	BootID      = "boot_id"
	OutboxID    = "outbox_id"
	ResourceUID = "resource_uid"
	ProviderJob = "provider_job"
)

// Headers that carry identifiers between services.
const (
	HeaderCorrelationID = "X-Correlation-ID"
	HeaderRequestID     = "X-Request-ID"
	HeaderBaggage       = "baggage"
)

// What the identity processor adds to a record: how it was resolved, which of its keys disagreed, and
// the comma-separated names of the attributes that were added, so that a reader can tell them from what
// the emitter said.
const (
	IdentityVia      = "identity_via"
	IdentityConflict = "identity_conflict"
	IdentityStamped  = "identity_stamped"
)
