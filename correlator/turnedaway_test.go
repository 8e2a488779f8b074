package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// A machine's polls are answered with 429 until its task expires. It is the API's where others are turned away, too, and nobody comes through.
func TestWhoIsTurnedAwayAsTooMany(t *testing.T) {
	const told = `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01.1 provisioner node.assigned node_id=n-1 allocation_id=a-1
10:00:01.3 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
10:00:02 provisioner task.state allocation_id=a-1 task_id=t-1 workflow_id=w-1 node_id=n-1 type=allocation.provision_user to=queued
10:00:31 node-agent warn node_id=n-1 node_instance_id=n-1-i1 | tasks/wait: 429 Too Many Requests, Retry-After: 30
10:01:31 node-agent warn node_id=n-2 node_instance_id=n-2-i1 | tasks/wait: 429 Too Many Requests, Retry-After: 30
10:05:31 node-agent warn node_id=n-1 node_instance_id=n-1-i1 | tasks/wait: 429 Too Many Requests, Retry-After: 30
10:10:02 provisioner task.state task_id=t-1 workflow_id=w-1 node_id=n-1 to=expired reason=not_claimed
10:10:03 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:10:04 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`
	for what, c := range map[string]struct {
		told string
		api  bool
	}{
		"all":                     {told, true},
		"this one alone":          {strings.ReplaceAll(told, "node_id=n-2 node_instance_id=n-2-i1", "node_id=n-1 node_instance_id=n-1-i1"), false},
		"another one comes in":    {told + "10:02:31 node-agent info node_id=n-3 node_instance_id=n-3-i1 | tasks/wait: no task\n", false},
		"the proxy refuses alone": {told + "10:02:31 nginx warn http.response.status_code=429 url.path=/internal/v1/nodes/n-1/tasks/wait upstream.address=\"\" | limiting requests, excess: 10.9 by zone \"polls\"\n", false},
	} {
		v := verdictOn(t, c.told)
		if api := v.Outcome == correlator.Attributed && v.Faults[0].Rule == "api.turns_all_away"; api != c.api {
			t.Errorf("%s: %s: %s", what, v.Outcome, v.Explanation)
		}
	}
}
