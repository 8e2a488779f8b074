package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// A certificate for another name is nobody's wrong certificate where who watches the dialled name sees it with its own: somebody else answered.
func TestACertificateShownBySomebodyElse(t *testing.T) {
	const told = `
WATCHED
10:00:03 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:05 api task.state allocation_id=a-1 task_id=t-1 node_id=n-91 type=slice.vm_provision to=queued
10:00:06 api task.state allocation_id=a-1 task_id=t-1 node_id=n-91 to=dispatched claim_id=k-1 fence=1 lease_until=2026-03-02T10:08:06Z
10:04:31 node-agent error allocation_id=a-1 task_id=t-1 node_id=n-91 | report result: tls: failed to verify certificate: x509: certificate is valid for printer-37.local, not node-api.edge.example.com
10:08:06 api task.state allocation_id=a-1 task_id=t-1 node_id=n-91 to=lost claim_id=k-1 fence=1 reason=lease_expired
10:08:08 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`
	const watched = `09:55:00 cert-exporter info | node-api.edge.example.com: dnsNames=[node-api.edge.example.com] chain=ok`
	for name, c := range map[string]struct {
		watched string
		blamed  bool
	}{"nobody watches": {"", true}, "watched": {watched, false}} {
		records, err := story.Parse(strings.TrimPrefix(strings.ReplaceAll(told, "WATCHED", c.watched), "\n"))
		if err != nil {
			t.Fatal(err)
		}
		v := query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Verdict
		if blamed := len(v.Faults) > 0 && v.Faults[0].Layer == "cert"; blamed != c.blamed {
			t.Errorf("%s: %s", name, v.Explanation)
		}
	}
}
