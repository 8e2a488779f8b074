package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// A word of one witness takes a blame away that the same records bear without it.
func TestOneWitnessAcquits(t *testing.T) {
	for _, c := range []struct{ name, told, other, witness, blamed string }{
		// A proxy that waited a minute makes the API slow, unless the API tells of the very request that it answered it at once: where the answer was
		// lost neither of them knows.
		{
			"an answer that one gave and the other never had", `
09:30:00 api allocation.state allocation_id=a-1 from=provisioning to=active
WITNESS
10:02:00.1 haproxy warn allocation_id=a-1 request_id=rq-1 http.response.status_code=504 | 10.9.4.8:60114 [02/Mar/2026:10:01:00.061] api~ api/api1 0/0/1/-1/60002 504 194 - - sH-- 12/12/1/1/0 0/0 "POST /v1/allocations/a-1/release HTTP/1.1"
10:02:00.2 cli error allocation_id=a-1 request_id=rq-1 | release a-1: 504 Gateway Time-out
10:04:00.1 haproxy warn allocation_id=a-1 request_id=rq-2 http.response.status_code=504 | 10.9.4.8:60117 [02/Mar/2026:10:03:00.064] api~ api/api1 0/0/1/-1/60001 504 194 - - sH-- 12/12/1/1/0 0/0 "POST /v1/allocations/a-1/release HTTP/1.1"
10:03:00 api info | GET /v1/nodes 200
10:10:01 haproxy heartbeat component=haproxy
`,
			"10:01:00 api info | GET /v1/nodes 200",
			"10:01:00.1 api info allocation_id=a-1 request_id=rq-1 | POST /v1/allocations/a-1/release request_id=rq-1 status=202 dur=39ms", "api",
		},
		// Data that a machine cannot read are its tenant's, unless the API tells that he sent none.
		{
			"user data that nobody sent", `
WITNESS
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=running
10:00:01.5 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
10:01:01 cloud-init warn allocation_id=a-1 layer=node | Failed loading yaml blob. Invalid format at line 6 column 1
10:10:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=failed
10:10:02 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=error
10:12:00 provisioner heartbeat component=provisioner
`,
			"10:00:00 api info allocation_id=a-1 | POST /v1/allocations 201 ssh_keys=2 user_data=request",
			"10:00:00 api info allocation_id=a-1 | POST /v1/allocations 201 ssh_keys=2 user_data=none", "client",
		},
		// A certificate for another name is nobody's wrong certificate where who watches the dialled name sees it with its own: somebody else answered.
		{
			"a certificate shown by somebody else", `
WITNESS
10:00:03 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:05 api task.state allocation_id=a-1 task_id=t-1 node_id=n-91 type=slice.vm_provision to=queued
10:00:06 api task.state allocation_id=a-1 task_id=t-1 node_id=n-91 to=dispatched claim_id=k-1 fence=1 lease_until=2026-03-02T10:08:06Z
10:04:31 node-agent error allocation_id=a-1 task_id=t-1 node_id=n-91 | report result: tls: failed to verify certificate: x509: certificate is valid for printer-37.local, not node-api.edge.example.com
10:08:06 api task.state allocation_id=a-1 task_id=t-1 node_id=n-91 to=lost claim_id=k-1 fence=1 reason=lease_expired
10:08:08 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`,
			"09:55:00 cert-exporter info | other.example.com: dnsNames=[other.example.com] chain=ok",
			"09:55:00 cert-exporter info | node-api.edge.example.com: dnsNames=[node-api.edge.example.com] chain=ok", "cert",
		},
	} {
		for _, line := range []string{c.other, c.witness} {
			v := verdictOn(t, strings.Replace(c.told, "WITNESS", line, 1))
			switch blamed := len(v.Faults) > 0 && v.Faults[0].Layer == c.blamed; {
			case line == c.other && !blamed:
				t.Errorf("%s, without the witness: %s: %s", c.name, v.Outcome, v.Explanation)
			case line == c.witness && v.Outcome == correlator.Attributed:
				t.Errorf("%s, with the witness: %s: %s", c.name, v.Outcome, v.Explanation)
			}
		}
	}
}
