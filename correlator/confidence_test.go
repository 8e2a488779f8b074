package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// verdictOn judges a story's first allocation.
func verdictOn(t *testing.T, told string) correlator.Verdict {
	t.Helper()
	records, err := story.Parse(strings.TrimPrefix(told, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Verdict
}

// Who is blamed by others alone, and says nothing of it himself, is blamed with less confidence.
func TestOthersWordsAloneLowerTheConfidence(t *testing.T) {
	const told = `
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:05 provisioner error allocation_id=a-1 | step place: pq: remaining connection slots are reserved for roles with the SUPERUSER attribute
10:00:09 api error allocation_id=a-1 | place a-1: pq: remaining connection slots are reserved for roles with the SUPERUSER attribute
10:00:12 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:00:13 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`
	const own = "10:00:05.1 postgres fatal allocation_id=a-1 | FATAL: remaining connection slots are reserved for roles with the SUPERUSER attribute\n"
	rank := map[string]int{correlator.High: 2, correlator.Medium: 1, correlator.Low: 0}
	alone, both := verdictOn(t, told), verdictOn(t, told+own)
	if len(alone.Faults) != 1 || len(both.Faults) != 1 || alone.Faults[0].Layer != "db" || both.Faults[0].Layer != "db" {
		t.Fatalf("%s: %s; %s: %s", alone.Outcome, alone.Explanation, both.Outcome, both.Explanation)
	}
	if a, b := alone.Faults[0].Confidence, both.Faults[0].Confidence; rank[a] >= rank[b] {
		t.Errorf("by others alone %s, with its own word %s", a, b)
	}
}

// Who finds nobody at an address did not hang up, whatever time-out stands in the address.
func TestARefusedDialIsNoImpatience(t *testing.T) {
	v := verdictOn(t, `
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:01 provisioner task.state allocation_id=a-1 task_id=t-1 node_id=n-1 type=node.provision to=queued expires_at=2026-03-02T10:05:00Z
10:00:02 node-agent span 79ms error allocation_id=a-1 node_id=n-1 trace_id=tr-1 kind=client | Get "https://10.0.0.1:443/nodes/n-1/tasks/wait?resume=true&timeout=5s": dial tcp 10.0.0.1:443: connect: connection refused
10:00:02.1 ingress-proxy log allocation_id=a-1 node_id=n-1 trace_id=tr-1 http.request.method=GET url.path=/nodes/n-1/tasks/wait http.response.status_code=499 upstream.address=10.0.0.9:80 proxy.flags=DC
10:05:00 provisioner task.state allocation_id=a-1 task_id=t-1 node_id=n-1 to=expired reason="not claimed before expires_at"
10:05:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`)
	if len(v.Faults) > 0 && v.Faults[0].Mechanism == "patience" {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
}

// What an API says of its callee when the proxy in front of it had just given it up is no proof against the callee: its own call ended with the request.
func TestWhatEndsWithItsRequestBlamesNobody(t *testing.T) {
	v := verdictOn(t, `
09:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
10:00:00 cli span 8.1s error allocation_id=a-1 trace_id=tr-1 kind=client http.request.method=POST url.path=/v1/allocations/a-1/release http.response.status_code=504 | 504 Gateway Timeout
10:00:00.1 ingress span 8.0s error allocation_id=a-1 trace_id=tr-1 http.request.method=POST url.path=/v1/allocations/a-1/release http.response.status_code=504 proxy.flags=UT upstream.address=10.0.0.9:80
10:00:00.2 fulfillment-api span 8.5s error allocation_id=a-1 trace_id=tr-1 kind=server http.request.method=POST url.path=/v1/allocations/a-1/release http.response.status_code=502 error.type=upstream server.address=provisioner | provisioning service is unavailable
10:00:10 provisioner heartbeat component=provisioner
10:02:00 api heartbeat component=api
`)
	if len(v.Faults) > 0 && v.Faults[0].Layer == "workflow" {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
}
