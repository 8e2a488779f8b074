package correlator_test

import (
	"strings"
	"testing"
)

// A proxy that gives up what takes longer when all is well is why it fails; where nobody tells what is usual, who takes so long may be.
func TestAProxyThatWaitsLessThanUsual(t *testing.T) {
	const told = `
09:50:00.2 nginx info | 10.20.0.9 - - [02/Mar/2026:09:50:00 +0000] "GET /v1/plans/7 HTTP/1.1" 200 512 "-" "portal/2.0" rt=0.012 uct=0.000 urt=0.012
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:02 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
USUAL
10:01:05 nginx warn allocation_id=a-1 | 10.20.4.8 - - [02/Mar/2026:10:01:05 +0000] "POST /v1/plans HTTP/1.1" 504 167 "-" "provisioner/4.1" rt=60.001 uct=0.000 urt=60.001
10:01:05.1 provisioner warn allocation_id=a-1 | plan: 504 Gateway Time-out, trying again
10:01:19 api info allocation_id=a-1 | POST /v1/plans 201 in 74.1 s
10:03:05 nginx warn allocation_id=a-1 | 10.20.4.8 - - [02/Mar/2026:10:03:05 +0000] "POST /v1/plans HTTP/1.1" 504 167 "-" "provisioner/4.1" rt=60.002 uct=0.000 urt=60.002
10:03:05.1 provisioner warn allocation_id=a-1 | plan: 504 Gateway Time-out, trying again
10:03:18 api info allocation_id=a-1 | POST /v1/plans 201 in 73.0 s
10:03:30 provisioner error allocation_id=a-1 | provision failed: plan 504 twice
10:03:31 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:03:32 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
10:05:00 api heartbeat component=api
`
	const rule = "ingress.cuts_call"
	for name, usual := range map[string]string{
		"by its own word": "10:00:05 api info allocation_id=a-1 | POST /v1/plans started: topology for 64 nodes (usually 60-90 s)",
		"by another call": "09:30:00 api info allocation_id=a-2 | POST /v1/plans 201 in 71.5 s",
	} {
		if v := verdictOn(t, strings.ReplaceAll(told, "USUAL", usual)); len(v.Faults) != 1 || v.Faults[0].Rule != rule {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Explanation)
		}
	}
	if v := verdictOn(t, strings.ReplaceAll(told, "USUAL\n", "")); len(v.Faults) > 0 && v.Faults[0].Rule == rule {
		t.Errorf("nobody tells what is usual: %s", v.Explanation)
	}
}
