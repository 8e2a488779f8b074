package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// A user's release fails, an administrator cleans up what a failed step left, and the release works by itself: what was given up mended nothing.
func TestWhatGivesUpMendsNothing(t *testing.T) {
	const told = `
09:00:00 provisioner allocation.state allocation_id=a-1 to=active
10:00:05 cli span 5s error kind=client allocation_id=a-1 name="POST /v1/allocations/{id}/release" trace_id=r1 span_id=c1 error.type=timeout
10:10:11 cli span 5s error kind=client allocation_id=a-1 name="POST /v1/allocations/{id}/release" trace_id=r2 span_id=c2 error.type=timeout
10:20:11 cli span 5s error kind=client allocation_id=a-1 name="POST /v1/allocations/{id}/release" trace_id=r3 span_id=c3 error.type=timeout
10:30:15 provisioner audit.action allocation_id=a-1 node_id=n-1 actor=operator-kim actor_type=admin action=ACTION reason="disk is empty"
10:30:33 cli span 1s kind=client allocation_id=a-1 name="POST /v1/allocations/{id}/release" http.response.status_code=202 trace_id=r4 span_id=c4
10:30:34 provisioner allocation.state allocation_id=a-1 from=active to=releasing
10:31:00 provisioner heartbeat component=provisioner
`
	for action, mended := range map[string]bool{"force_cleanup": false, "force-release": false, "lift_queue_block": true} {
		v := verdictOn(t, strings.ReplaceAll(told, "ACTION", action))
		if owns := v.Outcome == correlator.Attributed && v.Faults[0].Layer == semconv.LayerWorkflow; owns != mended {
			t.Errorf("%s: %s: %s", action, v.Outcome, v.Explanation)
		}
	}
}
