package correlator_test

import (
	"strings"
	"testing"
)

// A name that one name server knows and another does not is the name servers' matter, and the rollout's that wrote it down where both do not.
func TestANameThatOneServerKnows(t *testing.T) {
	const told = `
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:03 provisioner warn allocation_id=a-1 | launch: dial tcp: lookup jobs-2.jobs.svc.cluster.local on 10.9.1.9:53: no such host (attempt 1)
10:00:30 network-probe info | dns name=jobs-2.jobs.svc.cluster.local server=10.9.1.9 rcode=NXDOMAIN answers=0
10:00:30.1 network-probe info | dns name=jobs-2.jobs.svc.cluster.local server=10.9.5.3 rcode=NOERROR answers=1 10.96.44.18
10:04:03 provisioner error allocation_id=a-1 | launch: dial tcp: lookup jobs-2.jobs.svc.cluster.local on 10.9.1.9:53: no such host (attempt 5, giving up)
10:04:04 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:04:05 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`
	if v := verdictOn(t, told); len(v.Faults) != 1 || v.Faults[0].Rule != "network.resolver" {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
	if v := verdictOn(t, strings.ReplaceAll(told, "rcode=NOERROR answers=1 10.96.44.18", "rcode=NXDOMAIN answers=0")); len(v.Faults) != 1 || v.Faults[0].Layer != "deploy" {
		t.Errorf("neither knows it: %s: %s", v.Outcome, v.Explanation)
	}
}
