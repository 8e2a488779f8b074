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

// What the identity processor and the exporter add to a record. Via and Conflict are never read as
// identifiers.
const (
	IdentityVia      = "identity_via"
	IdentityConflict = "identity_conflict"
)
