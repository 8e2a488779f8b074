package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// What a proxy complained of minutes before a step is no reason where it has served the same allocation since.
func TestWhatWasServedSince(t *testing.T) {
	const head = `
10:00:00    ingress-proxy warn | tls: handshake with 10.0.0.7:4711: remote error: tls: unknown certificate authority
10:04:00    provisioner allocation.state allocation_id=a-1 to=requested
SERVED
10:04:01    provisioner node.assigned allocation_id=a-1 node_id=n-3
10:04:01.5  provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:04:02    provisioner task.state task_id=k-1 allocation_id=a-1 node_id=n-3 type=prepare to=queued
10:05:02    provisioner task.state task_id=k-1 allocation_id=a-1 node_id=n-3 type=prepare to=expired reason="not claimed before expires_at"
10:05:03    provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason="provisioning failed"
`
	const served = `10:04:00.5  ingress-proxy info allocation_id=a-1 http.request.method=GET url.path=/v1/allocations/a-1 http.response.status_code=200`
	for name, c := range map[string]struct {
		served string
		blamed bool
	}{"nothing served since": {"", true}, "served since": {served, false}} {
		records, err := story.Parse(strings.ReplaceAll(head, "SERVED\n", strings.TrimPrefix(c.served+"\n", "\n")))
		if err != nil {
			t.Fatal(err)
		}
		v := query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Verdict
		if blamed := len(v.Faults) > 0 && v.Faults[0].Layer == "cert"; blamed != c.blamed {
			t.Errorf("%s: %s", name, v.Explanation)
		}
	}
}
