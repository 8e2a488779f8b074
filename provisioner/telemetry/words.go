package telemetry

// words are written as their number in packs. Only ever append: packs that wait to be shipped were
// written with these numbers. A text that is missing here costs its length.
var words = [...]string{
	"", "provisioner", "db", "outbox-relay",
	"allocation_id", "workflow_id", "correlation_id", "node_id", "node_instance_id", "request_id", "task_id", "claim_id", "boot_id",
	"outbox_id", "resource_uid", "provider_job", "event_id",
	"allocation.state", "node.assigned", "node.unassigned", "node.instance", "node.occupancy", "workflow.state", "task.state",
	"provider_job.state", "provider_job.poll", "projection.observed", "outbox.record", "audit.action",
	"from", "to", "reason", "actor", "actor_type", "action", "before", "after", "operation", "waiting_on", "type", "fence", "lease_until",
	"provider", "provider_status", "provider_explanation", "config_version", "subject", "attempt_count", "last_error", "attempt", "error.type",
	"requested", "reserved", "provisioning", "active", "degraded", "canceling", "canceled", "failed", "releasing", "release_failed", "released",
	"free", "occupied", "cleanup", "fenced", "unknown", "enrolling", "live", "superseded", "lost",
	"scheduled", "running", "waiting", "cancel_requested", "completed", "timed_out", "terminated",
	"queued", "dispatched", "succeeded", "expired", "rejected", "pending", "published", "dead",
	"Pending", "Waiting", "Running", "Succeeded", "Failed", "Canceled", "Unknown",
	"allocation.requested", "allocation.canceled", "allocation.failed", "allocation.active", "allocation.degraded", "allocation.releasing",
	"allocation.release_failed", "allocation.released", "allocation.canceling",
	"provision", "release", "cancel", "reimage", "wipe", "placement", "aap", "eda", "user", "admin", "system", "billing",
	"workflow provision", "workflow release", "workflow cancel", "task provision", "task wipe",
}

var wordNumbers = func() map[string]uint64 {
	numbers := make(map[string]uint64, len(words))
	for i, w := range words {
		numbers[w] = uint64(i)
	}
	return numbers
}()

// longestWord is the length of the longest: what is longer need not be looked up.
var longestWord = func() (n int) {
	for _, w := range words {
		n = max(n, len(w))
	}
	return n
}()
