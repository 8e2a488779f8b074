package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// A run waits for a lock until its deadline. Whose it is, is known where the holder that it names has ended: by the waiter's word, or by the holder's run.
func TestALockThatAnEndedRunHolds(t *testing.T) {
	const told = `
09:52:01 provisioner workflow.state allocation_id=b-0 workflow_id=run-4400 operation=provision to=running
09:56:01 provisioner workflow.state allocation_id=b-0 workflow_id=run-4400 operation=provision to=completed
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=run-4406 operation=provision to=running
10:00:02 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
10:00:03 provisioner info allocation_id=a-1 workflow_id=run-4406 | waiting for the lock of site 3, held by run-4400
10:30:03 provisioner info allocation_id=a-1 workflow_id=run-4406 | waiting for the lock of site 3, held by run-4400
10:40:02 provisioner workflow.state allocation_id=a-1 workflow_id=run-4406 operation=provision to=timed_out
10:40:03 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`
	for what, c := range map[string]struct{ old, new, rule string }{
		"the holder's run has ended":      {"", "", "workflow.lock_left"},
		"the waiter says so":              {"held by run-4400", "Halter: Lauf run-4477 (beendet)", "workflow.lock_left"},
		"the holder's run goes on":        {"workflow_id=run-4400 operation=provision to=completed", "workflow_id=run-4400 operation=provision to=running", ""},
		"nobody knows the holder":         {"held by run-4400", "held by run-4477", ""},
		"the holder is who waits himself": {"held by run-4400", "held by run-4406", ""},
	} {
		v := verdictOn(t, strings.ReplaceAll(told, c.old, c.new))
		rule := ""
		if v.Outcome == correlator.Attributed {
			rule = v.Faults[0].Rule
		}
		if rule != c.rule {
			t.Errorf("%s: %q, %s: %s", what, rule, v.Outcome, v.Explanation)
		}
	}
}
