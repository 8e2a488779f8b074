package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// What the party behind the loudest one tells, and without which the loudest one would be blamed.
func TestWhoStandsBehindTheLoudest(t *testing.T) {
	for rule, told := range map[string]string{
		// An agent sends a ping every five minutes; the proxy before its controller ends connections on which nothing came for one.
		"ingress.idle_timeout": `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner allocation.state allocation_id=a-1 from=requested to=reserved
10:00:01.1 provisioner node.assigned allocation_id=a-1 @N
10:00:02 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:02.1 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:03 api task.state allocation_id=a-1 node_id=n-1 task_id=t-1 workflow_id=w-1 type=allocation.provision to=queued
10:00:05 api task.state allocation_id=a-1 node_id=n-1 task_id=t-1 workflow_id=w-1 to=dispatched claim_id=c-1 fence=1 lease_until=2026-03-02T10:08:00Z
10:02:30 nginx info | *8812 upstream timed out (110: Connection timed out) while proxying connection, client: 10.20.0.17, server: 0.0.0.0:50000, upstream: "10.42.1.8:50000", bytes from/to client:8123/21004
10:05:06 node-agent error node_id=n-1 | SEVERE: Connection error has occurred java.io.IOException: Connection reset
10:08:00 api task.state task_id=t-1 node_id=n-1 to=lost claim_id=c-1 fence=1 reason=lease_expired
10:08:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:08:01.1 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=task_lost
10:09:00 nginx heartbeat component=nginx
10:09:01 node-agent heartbeat component=node-agent node_id=n-1
10:09:02 api heartbeat component=api
`,
		// The proxy keeps idle connections for longer than the API does, and now and then sends a request over one that is being closed at that moment.
		"ingress.keepalive": `
09:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
10:00:39.999 api debug | closing idle keep-alive connection from 10.42.0.9:51234 after 30000 ms
10:00:40.001 traefik info allocation_id=a-1 | 10.20.0.31 - - [02/Mar/2026:10:00:40 +0000] "POST /v1/allocations/a-1/release HTTP/1.1" 502 11 "-" "cli" 8123 "api@kubernetes" "http://10.42.3.7:8080" 1ms
10:00:40.1 cli error allocation_id=a-1 | release a-1: 502 Bad Gateway
10:02:40.999 api debug | closing idle keep-alive connection from 10.42.0.9:51410 after 30000 ms
10:02:41.001 traefik info allocation_id=a-1 | 10.20.0.31 - - [02/Mar/2026:10:02:41 +0000] "POST /v1/allocations/a-1/release HTTP/1.1" 502 11 "-" "cli" 8391 "api@kubernetes" "http://10.42.3.7:8080" 1ms
10:02:41.1 cli error allocation_id=a-1 | release a-1: 502 Bad Gateway
10:05:00 api info | GET /healthz 200
10:06:00 api heartbeat component=api
10:06:01 traefik heartbeat component=traefik
`,
		// The API begins transactions and does not end them. The database has no connection left for anybody, and its exporter tells who holds them.
		"api.held_open": `
08:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
10:00:12 postgres error | FATAL:  remaining connection slots are reserved for non-replication superuser connections
10:00:12.1 api error allocation_id=a-1 request_id=r-1 http.response.status_code=500 | release: FATAL: remaining connection slots are reserved for non-replication superuser connections
10:00:12.3 cli error allocation_id=a-1 request_id=r-1 | 500 Internal Server Error
10:02:12 postgres error | FATAL:  remaining connection slots are reserved for non-replication superuser connections
10:02:12.1 api error allocation_id=a-1 request_id=r-2 http.response.status_code=500 | release: FATAL: remaining connection slots are reserved for non-replication superuser connections
10:02:12.3 cli error allocation_id=a-1 request_id=r-2 | 500 Internal Server Error
10:05:00 postgres-exporter warn layer=db | max_connections=100; api: 91 idle in transaction, oldest 3h07m; provisioner: 4 idle; outbox-relay: 2 idle
10:06:00 api heartbeat component=api
10:06:01 postgres heartbeat component=postgres
`,
		// A user's tool was given the root of an authority that is gone. The authority itself signs for everybody else.
		"client.trust": `
09:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
10:00:08.5 step-cli error layer=client allocation_id=a-1 | client GET https://ca.fleet.example/provisioners failed: tls: failed to verify certificate: x509: certificate signed by unknown authority
10:00:08.6 step-ca warn | http: TLS handshake error from 10.30.4.9:51122: remote error: tls: bad certificate
10:01:00 step-ca info | level=info method=POST path=/1.0/sign status=201 remote-address=10.30.4.22 subject=gpu-18 issuer="Fleet Intermediate CA"
10:01:28.5 step-cli error layer=client allocation_id=a-1 | client GET https://ca.fleet.example/provisioners failed: tls: failed to verify certificate: x509: certificate signed by unknown authority
10:01:28.6 step-ca warn | http: TLS handshake error from 10.30.4.9:51140: remote error: tls: bad certificate
10:05:00 api heartbeat component=api
10:05:01 step-ca heartbeat component=step-ca
`,
	} {
		if rule == "api.held_open" { // the same, as pg_stat_activity has it
			other := strings.ReplaceAll(told, "max_connections=100; api: 91 idle in transaction, oldest 3h07m; provisioner: 4 idle; outbox-relay: 2 idle", "97 of 100 connections, 93 idle in transaction, all from 172.17.0.9 (api)")
			if v := verdictOn(t, other); v.Outcome != correlator.Attributed || v.Faults[0].Rule != rule || other == told {
				t.Errorf("%s: %s: %s", rule, v.Outcome, v.Explanation)
			}
		}
		if v := verdictOn(t, told); v.Outcome != correlator.Attributed || v.Faults[0].Rule != rule {
			t.Errorf("%s: %s: %s", rule, v.Outcome, v.Explanation)
		}
	}
}

// The proxy sent an agent's result to the API and had no answer; the API, which answered hundreds of others meanwhile, has none with that id. What
// became of it between the two, no record tells.
func TestTheCalledHasNoSuchRequest(t *testing.T) {
	const told = `
10:00:00 api allocation.state allocation_id=a-4410 to=requested
10:00:01 provisioner workflow.state allocation_id=a-4410 workflow_id=w-1 operation=provision to=running
10:00:01.2 provisioner node.assigned node_id=n-271 allocation_id=a-4410
10:00:01.4 provisioner allocation.state allocation_id=a-4410 from=requested to=reserved
10:00:02 provisioner allocation.state allocation_id=a-4410 from=reserved to=provisioning
10:00:03 api task.state allocation_id=a-4410 task_id=t-44 node_id=n-271 type=slice.vm_provision to=queued
10:00:05 api task.state allocation_id=a-4410 task_id=t-44 node_id=n-271 node_instance_id=n-271-1 to=dispatched claim_id=c1 fence=1 lease_until=2026-03-02T10:12:05Z
10:04:30 node-agent info node_id=n-271 node_instance_id=n-271-1 task_id=t-44 | slice.vm_provision done in 264s, reporting
10:05:30 nginx error request_id=rc-41 http.response.status_code=504 upstream.address=10.42.3.7:8080 | *4401 upstream timed out (110: Operation timed out) while reading response header from upstream, client: 10.50.27.1, request: "POST /internal/v1/nodes/n-271/tasks/t-44/result HTTP/1.1"
10:05:30.2 node-agent error node_id=n-271 node_instance_id=n-271-1 task_id=t-44 request_id=rc-41 | report result: 504 Gateway Timeout
10:05:45 api info | access audit 10:04-10:06: 310 requests received and answered, open now 0; none with request_id rc-41, none for t-44/result
10:12:06 api task.state allocation_id=a-4410 task_id=t-44 node_id=n-271 to=lost claim_id=c1 fence=1 reason=lease_expired
10:12:07 provisioner workflow.state allocation_id=a-4410 workflow_id=w-1 operation=provision to=failed
10:12:07.2 provisioner allocation.state allocation_id=a-4410 from=provisioning to=failed reason=task_lost
10:13:00 nginx heartbeat component=nginx
10:13:01 api heartbeat component=api
`
	if v := verdictOn(t, told); v.Outcome != correlator.Contested {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
	if v := verdictOn(t, strings.ReplaceAll(told, "none with request_id rc-41, none for t-44/result", "slowest 38 ms")); v.Outcome == correlator.Contested {
		t.Errorf("though the API does not say so: %s", v.Explanation)
	}
}
