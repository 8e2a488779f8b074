package semconv

// Allocation states. Legal moves are the provisioner's table; here they are only names.
const (
	Requested     = "requested"
	Reserved      = "reserved"
	Provisioning  = "provisioning"
	Active        = "active"
	Degraded      = "degraded"
	Canceling     = "canceling"
	Canceled      = "canceled"
	Failed        = "failed"
	Releasing     = "releasing"
	ReleaseFailed = "release_failed"
	Released      = "released"
)

// Further values of `to`, by the event that uses them.
const (
	// Node instances.
	Enrolling  = "enrolling"
	Live       = "live"
	Superseded = "superseded"
	Lost       = "lost"

	// Workflows.
	Scheduled       = "scheduled"
	Running         = "running"
	Waiting         = "waiting"
	CancelRequested = "cancel_requested"
	Completed       = "completed"
	TimedOut        = "timed_out"
	Terminated      = "terminated"

	// Tasks.
	Queued     = "queued"
	Dispatched = "dispatched"
	Succeeded  = "succeeded"
	Expired    = "expired"
	Rejected   = "rejected"

	// Outbox records.
	Pending   = "pending"
	Published = "published"
	Dead      = "dead"
)
