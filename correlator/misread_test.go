package correlator_test

import (
	"strings"
	"testing"
)

// Lines that hold a rule's words and mean something else: the rule says nothing.
func TestWordsThatMeanSomethingElse(t *testing.T) {
	const refusedThrice = `
10:00:30 cli span 45ms error allocation_id=a-1 name="DELETE /v1/allocations/a-1" http.response.status_code=503
10:02:30 cli span 45ms error allocation_id=a-1 name="DELETE /v1/allocations/a-1" http.response.status_code=503
10:04:30 cli span 45ms error allocation_id=a-1 name="DELETE /v1/allocations/a-1" http.response.status_code=503
10:06:00 api heartbeat component=api
`
	for _, c := range []struct{ name, told, rule string }{
		{"a database's limit that a provider repeats", ordered + `
10:00:30 awx error allocation_id=a-1 http.response.status_code=500 | launch: FATAL: sorry, too many clients already
10:03:30 awx error allocation_id=a-1 http.response.status_code=500 | launch: FATAL: sorry, too many clients already
` + failed, "provider.pool"},
		{"no machine of twelve", ordered + `
10:00:20 kubevirt info layer=provider allocation_id=a-1 | 0/12 nodes are available: 12 Insufficient nvidia.com/gpu
10:00:30 api warn allocation_id=a-1 | placement: no available machine matches, no capacity
` + failed, "api.placement"},
		{"a limit of tries", ordered + `
10:00:30 awx warn allocation_id=a-1 http.response.status_code=401 | login: limit of 5 attempts reached, account locked
10:00:31 provisioner error allocation_id=a-1 http.response.status_code=401 | launch: awx answered 401
` + failed, "provider.quota"},
		{"a limiter that tells its caller's time was over before it could wait", ordered + `
10:00:20 provisioner info allocation_id=a-1 | machine g-7: no node yet
10:09:30 provisioner error allocation_id=a-1 | wait for node: failed to list machines: client rate limiter Wait returned an error: context deadline exceeded
` + failed, "workflow.limit"},
		{"an agent whose own calls are not taken up either", inUse + `
10:00:30 cli error layer=client allocation_id=a-1 | get a-1: Get "https://127.0.0.1:34757/api/v1/allocations/a-1": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
10:00:30.2 node-agent error node_id=n-a7 | claim: Get "https://127.0.0.1:34757/internal/v1/nodes/n-a7/tasks/wait?timeout=5s": net/http: TLS handshake timeout
10:00:50 cli error layer=client allocation_id=a-1 | get a-1: Get "https://127.0.0.1:34757/api/v1/allocations/a-1": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
10:00:50.2 node-agent error node_id=n-a7 | claim: Get "https://127.0.0.1:34757/internal/v1/nodes/n-a7/tasks/wait?timeout=5s": net/http: TLS handshake timeout
10:02:10 cli error layer=client allocation_id=a-1 | get a-1: Get "https://127.0.0.1:34757/api/v1/allocations/a-1": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
10:02:10.2 node-agent error node_id=n-a7 | claim: Get "https://127.0.0.1:34757/internal/v1/nodes/n-a7/tasks/wait?timeout=5s": net/http: TLS handshake timeout
`, "node_agent.with_each_failure"},
		{"an agent that speaks whenever a user's call fails", inUse + `
10:00:30 cli error layer=client allocation_id=a-1 | get a-1: 504 Gateway Timeout
10:00:30.2 node-agent error node_id=n-a7 | keeper line broken, seal open
10:01:50 cli error layer=client allocation_id=a-1 | get a-1: 504 Gateway Timeout
10:01:50.2 node-agent error node_id=n-a7 | keeper line broken, seal open
10:03:10 cli error layer=client allocation_id=a-1 | get a-1: 504 Gateway Timeout
10:03:10.2 node-agent error node_id=n-a7 | keeper line broken, seal open
`, "node_agent.with_each_failure"},
		{"somebody else who was blocked", inUse + "10:04:40 auth-service warn | tenant acme blocked for 600 s after 5 failed logins\n" + refusedThrice, "api_auth.paused"},
		{"a transaction that is blocked", inUse + "10:04:40 postgres warn | transaction 91 of process 88 blocked by 77 for 300 s\n" + refusedThrice, "db.paused"},
		{"a counter that was reset", ordered + `
10:00:20 bmc info node_id=n-a7 | retry counter reset for session root
10:00:30 provisioner error allocation_id=a-1 node_id=n-a7 server.address=bmc-n-a7 | power on via bmc-n-a7: dial tcp 10.0.9.72:443: i/o timeout
10:05:30 provisioner error allocation_id=a-1 node_id=n-a7 server.address=bmc-n-a7 | power on via bmc-n-a7: dial tcp 10.0.9.72:443: i/o timeout
` + failed, "provider.starts_anew"},
		{"an answer that cannot be read", inUse + `
10:00:29 api info allocation_id=a-1 | decode provider response: invalid character '<' looking for beginning of value
10:00:30 cli error allocation_id=a-1 | release a-1: server answered 400
10:05:29 api info allocation_id=a-1 | decode provider response: invalid character '<' looking for beginning of value
10:06:00 api heartbeat component=api
`, "client.malformed"},
		{"a question that may still be open", ordered + `
10:00:00 node-agent heartbeat component=node-agent node_id=n-a7
09:59:31 api info node_id=n-a7 | GET tasks/wait 204
10:00:01 api info node_id=n-a7 | GET tasks/wait 204
10:00:02 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=queued
10:00:03 api info node_id=n-b8 | GET tasks/wait 204
10:00:05 node-agent info node_id=n-a7 | ready
10:00:07 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=expired
10:00:08 api heartbeat component=api
10:00:08 provisioner heartbeat component=provisioner
10:00:09 node-agent heartbeat component=node-agent node_id=n-a7
`, "node_agent.asks_no_more"},
		{"a yes each time", inUse + `
10:00:30 cli error allocation_id=a-1 | release a-1: 504 Gateway Timeout
10:00:30.1 auth-service info allocation_id=a-1 | decision: release allowed to bob
10:02:30 cli error allocation_id=a-1 | release a-1: 504 Gateway Timeout
10:02:30.1 auth-service info allocation_id=a-1 | decision: release allowed to bob
10:04:30 cli error allocation_id=a-1 | release a-1: 504 Gateway Timeout
10:04:30.1 auth-service info allocation_id=a-1 | decision: release allowed to bob
10:06:00 api heartbeat component=api
`, "api_auth.with_each_failure"},
		{"a view that cannot be reached", ordered + `
10:00:20 read-model projection.observed allocation_id=a-1 projection=inventory field=state value=free as_of=2026-03-02T08:00:00Z
10:00:30 provisioner error allocation_id=a-1 | GET http://read-model/v1/inventory: connection refused
10:05:30 provisioner error allocation_id=a-1 | GET http://read-model/v1/inventory: connection refused
` + failed, "projection.old_view"},
		{"an undoing while others were served", ordered + `
10:00:10 argocd deploy.change component=maas config=theme from=r1 to=r2
10:00:30 maas error allocation_id=a-1 layer=provider | step seven stays undone
10:03:30 maas error allocation_id=a-1 layer=provider | step seven stays undone
10:05:00 maas info layer=provider allocation_id=a-2 http.response.status_code=200 | deploy done
` + failed + `10:30:00 argocd deploy.change component=maas config=theme from=r2 to=r1
10:31:00 maas info layer=provider allocation_id=a-3 http.response.status_code=200 | deploy done
`, "deploy.change"},
	} {
		for _, f := range verdictOn(t, c.told).Faults {
			if f.Rule == c.rule || strings.HasSuffix(f.Rule, c.rule) {
				t.Errorf("%s: %s", c.name, f.Summary)
			}
		}
	}
}
