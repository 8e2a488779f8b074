package semconv

// Names of the lifecycle events. An event is an OTLP log record whose event_name field, or whose
// attribute EventNameKey, holds one of these.
const (
	EventNameKey = "event.name"
	EventIDKey   = "event_id"

	EventBinding         = "identity.binding"
	EventAllocationState = "allocation.state"
	EventNodeAssigned    = "node.assigned"
	EventNodeUnassigned  = "node.unassigned"
	EventNodeInstance    = "node.instance"
	EventNodeOccupancy   = "node.occupancy"
	EventWorkflowState   = "workflow.state"
	EventTaskState       = "task.state"
	EventProviderState   = "provider_job.state"
	EventProviderPoll    = "provider_job.poll"
	EventProjection      = "projection.observed"
	EventOutbox          = "outbox.record"
	EventAudit           = "audit.action"
	EventDeploy          = "deploy.change"
	EventHeartbeat       = "heartbeat"
)

// EventNames lists every lifecycle event that is understood; others are kept as plain log records.
func EventNames() []string {
	return []string{
		EventBinding, EventAllocationState, EventNodeAssigned, EventNodeUnassigned, EventNodeInstance,
		EventNodeOccupancy, EventWorkflowState, EventTaskState, EventProviderState, EventProviderPoll,
		EventProjection, EventOutbox, EventAudit, EventDeploy, EventHeartbeat,
	}
}

// Attributes of lifecycle events, beside the identifiers.
const (
	From                = "from"
	To                  = "to"
	Reason              = "reason"
	Actor               = "actor"
	ActorType           = "actor_type"
	Action              = "action"
	Before              = "before"
	After               = "after"
	SubjectKind         = "subject_kind"
	SubjectID           = "subject_id"
	ObjectKind          = "object_kind"
	ObjectID            = "object_id"
	ValidFrom           = "valid_from"
	ValidTo             = "valid_to"
	Operation           = "operation"
	WaitingOn           = "waiting_on"
	TaskType            = "type"
	Fence               = "fence"
	LeaseUntil          = "lease_until"
	Provider            = "provider"
	ProviderStatus      = "provider_status"
	ProviderExplanation = "provider_explanation"
	ConfigVersion       = "config_version"
	PollOK              = "ok"
	Error               = "error"
	Projection          = "projection"
	Field               = "field"
	Value               = "value"
	AsOf                = "as_of"
	Subject             = "subject"
	AttemptCount        = "attempt_count"
	LastError           = "last_error"
	Component           = "component"
	Version             = "version"
	Config              = "config"
	Layer               = "layer"
)
