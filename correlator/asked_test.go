package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// What a user asked for, and who did not do it: the call that he was told of as failed, not the step that never began by it.
func TestWhatWasAskedForAndFailed(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		{"turned away by the balancer before anybody heard of it", `
08:00:00 provisioner allocation.state allocation_id=al-11902 from=provisioning to=active
10:02:00 portal audit.action allocation_id=al-11902 actor=u actor_type=user action=release
10:02:30.1 haproxy warn | 10.8.4.21:51234 [02/Mar/2026:10:02:00.104] fe be_api/<NOSRV> 0/30001/-1/-1/30001 503 217 - - sQ-- 88/88/31/0/0 0/29 "POST /v1/allocations/al-11902/release HTTP/1.1"
10:02:30.2 portal error layer=client allocation_id=al-11902 | release: 503 Service Unavailable: overloaded
10:05:30.1 haproxy warn | 10.8.4.21:51260 [02/Mar/2026:10:05:00.100] fe be_api/<NOSRV> 0/30002/-1/-1/30002 503 217 - - sQ-- 92/92/35/0/0 0/34 "POST /v1/allocations/al-11902/release HTTP/1.1"
10:05:30.2 portal error layer=client allocation_id=al-11902 | release: 503 Service Unavailable: overloaded
10:08:00 api info | workers 256, busy 2
10:20:00 api heartbeat component=api
10:20:00.5 haproxy heartbeat component=haproxy
`, "ingress.limited"},
		{"begun only when the database wrote again", `
08:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
20:06:00 audit audit.action allocation_id=a-1 actor=u actor_type=user action=release
20:06:00.3 api error allocation_id=a-1 | java.sql.SQLException: The MySQL server is running with the --super-read-only option so it cannot execute this statement (errno 1290, HY000)
20:10:10 audit audit.action allocation_id=a-1 actor=u actor_type=user action=release
20:10:10.3 api error allocation_id=a-1 | java.sql.SQLException: The MySQL server is running with the --super-read-only option so it cannot execute this statement (errno 1290, HY000)
20:12:00 mysql info host.name=mysql-r1 | @@global.read_only=1 @@global.super_read_only=1
20:14:22 inventory-sync error | ERROR 1290 (HY000): The MySQL server is running with the --super-read-only option so it cannot execute this statement
20:39:00 audit audit.action allocation_id=a-1 actor=u actor_type=user action=release
20:39:00.3 api allocation.state allocation_id=a-1 from=active to=releasing
20:39:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=release to=running
20:43:40 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=release to=completed
20:43:41 api allocation.state allocation_id=a-1 from=releasing to=released
`, "db.role"},
		{"given up by its caller, by the word of who was left, sooner than half of such calls are done", `
05:00:00 provisioner allocation.state allocation_id=al-7001 from=provisioning to=active
05:10:02.1 nginx info url.path=/v1/allocations/al-7001/release | 10.40.3.9 - ci [02/Mar/2026:05:10:02 +0000] "POST /v1/allocations/al-7001/release HTTP/1.1" 499 0 "-" "ctl/1.8.2"
05:10:02.1 cli error allocation_id=al-7001 | Post "https://api/v1/allocations/al-7001/release": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
05:10:02.2 api error allocation_id=al-7001 | release al-7001: caller went away after 2.0s (context canceled), transaction rolled back
05:11:04.2 nginx info url.path=/v1/allocations/al-7001/release | 10.40.3.9 - ci [02/Mar/2026:05:11:04 +0000] "POST /v1/allocations/al-7001/release HTTP/1.1" 499 0 "-" "ctl/1.8.2"
05:11:04.2 cli error allocation_id=al-7001 | Post "https://api/v1/allocations/al-7001/release": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
05:11:04.3 api error allocation_id=al-7001 | release al-7001: caller went away after 2.0s (context canceled), transaction rolled back
05:15:00 api info | release latency, last 30 days: p50 4.2s p99 5.3s, unchanged
05:20:00 api heartbeat component=api
`, "client.patience"},
		{"refused before the step for a reason that is not told again", `
10:00:00.1 envoy info | [2026-03-02T10:00:00.010Z] "GET /internal/v1/nodes/n-9/tasks/wait HTTP/2" 204 - via_upstream - "-" 0 0 30 29 "10.62.9.10" "agent/7.3" "aa10" "node-api" "10.20.4.30:8080"
10:05:10 envoy info | [2026-03-02T10:05:10.200Z] "GET /internal/v1/nodes/n-9/tasks/wait HTTP/2" 401 - via_upstream - "-" 0 58 4 3 "10.62.9.10" "agent/7.3" "aa11" "node-api" "10.20.4.30:8080"
10:05:10.2 api warn | NodeIdentityFilter: 401 /internal/v1/nodes/n-9/tasks/wait: header x-forwarded-client-cert absent, no identity to check (mtls_present=false)
10:10:00 api allocation.state allocation_id=a-1 to=requested
10:10:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:10:01.2 provisioner node.assigned allocation_id=a-1 node_id=n-9
10:10:01.6 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
10:10:02 api task.state allocation_id=a-1 task_id=tk-1 node_id=n-9 type=allocation.provision_user to=queued
10:14:10 envoy info | [2026-03-02T10:14:10.700Z] "GET /internal/v1/nodes/n-9/tasks/wait HTTP/2" 401 - via_upstream - "-" 0 58 4 3 "10.62.9.10" "agent/7.3" "aa40" "node-api" "10.20.4.30:8080"
10:14:11 node-agent error node_id=n-9 node_instance_id=i-9 | tasks/wait: 401 Unauthorized {"error":"node identity missing"}
10:20:02 api task.state task_id=tk-1 node_id=n-9 to=expired reason=not_claimed
10:20:03 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:20:03.2 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=task_expired
10:21:00 api heartbeat component=api
`, "ingress.identity_forwarding"},
	} {
		if v := verdictOn(t, c.told); len(v.Faults) != 1 || v.Faults[0].Rule != c.rule {
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}

// A rollout and what a router tells of its own change in the same second are told apart by nothing; a change that was taken back before is none.
func TestAChangeThatOnlyTheNetworkTellsOf(t *testing.T) {
	const told = `
13:50:00 provisioner info | ironic: GET http://10.9.0.21:6385/v1/nodes 200 in 40ms
14:00:01 argocd deploy.change component=networkpolicy config=control/egress-ironic from=1f20ab3 to=90cc71d
14:00:02.6 sdn info layer=network | acl CTRL-TO-PROV revision 41 -> 42 applied on leaf-1..leaf-6 (by net-ops)
TAKEN BACK
14:05:00.1 api allocation.state allocation_id=a-1 to=requested
14:05:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
14:05:02.5 provisioner allocation.state allocation_id=a-1 workflow_id=w-1 from=requested to=provisioning
14:05:35 provisioner error allocation_id=a-1 workflow_id=w-1 | activity start_deploy attempt 1: dial tcp 10.9.0.21:6385: i/o timeout
14:12:37 provisioner error allocation_id=a-1 workflow_id=w-1 | activity start_deploy attempt 8: dial tcp 10.9.0.21:6385: i/o timeout
14:20:39 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
14:20:40 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=provider_unreachable
14:25:00 ironic heartbeat component=ironic
14:25:01 provisioner heartbeat component=provisioner
14:25:02 sdn heartbeat component=network
`
	if v := verdictOn(t, strings.ReplaceAll(told, "TAKEN BACK\n", "")); v.Outcome != correlator.Contested {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
	if v := verdictOn(t, strings.ReplaceAll(told, "TAKEN BACK", "14:02:00 sdn info layer=network | acl CTRL-TO-PROV restored to revision 41 on leaf-1..leaf-6")); v.Outcome == correlator.Contested {
		t.Errorf("taken back: %s", v.Explanation)
	}
}
