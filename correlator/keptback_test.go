package correlator_test

import "testing"

const expired = `
10:30:00 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=expired
` + failed

// Who is kept back, by what, and what nobody can know.
func TestWhatKeepsBack(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		// Two cards answer for the address that is dialled.
		{"an address with two answers", inUse + `
10:00:00 api audit.action allocation_id=a-1 actor=u-1 actor_type=user action=release
10:00:20 cli error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 | Delete "https://10.9.8.7/v1/allocations/a-1": read: connection reset by peer
10:02:20 cli error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 | Delete "https://10.9.8.7/v1/allocations/a-1": read: connection reset by peer
10:03:00 network-probe info | ARP, Reply 10.9.8.7 is-at fa:16:3e:dc:df:a0, length 28
10:03:02 network-probe info | ARP, Reply 10.9.8.7 is-at fa:16:3e:41:0b:7c, length 46
10:04:20 cli error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 | Delete "https://10.9.8.7/v1/allocations/a-1": read: connection reset by peer
`, "network.two_answers"},
		// The API tells what stands before the task, and that it has ended.
		{"an ended task at the head", queued + `
10:05:05 api info node_id=n-a7 | wait index: bucket n-a7 head=tk-0990 (succeeded, 2026-03-01T18:11Z) behind=1, nothing handed out
` + expired, "api.ended_holder"},
		// The agent keeps its place for a task whose end is on record.
		{"a place kept for an ended task", queued + `
09:50:00 api task.state task_id=tk-0990 node_id=n-a7 to=succeeded
10:05:05 werkbank info layer=node_agent node_id=n-a7 | Platz 1 belegt durch tk-0990 seit 26h
` + expired, "node_agent.ended_holder"},
		// Somebody else tells the end of what the agent waits behind.
		{"queued behind what is gone", queued + `
10:00:05 nomad-client info layer=node_agent node_id=n-a7 allocation_id=a-1 | added run "1f2b0c77-2f01" to blocked queue for previous run "9d40ab12-8c5e-71d3"
10:00:06 nomad-server info layer=workflow | run 9d40ab12 status complete since 40 min, garbage collected
` + expired, "node_agent.ended_holder"},
		// Nothing failed, nothing runs: the workflow waits for a time of its own.
		{"a timer of its own", `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:02 provisioner allocation.state allocation_id=a-1 from=requested to=reserved
10:00:03 provisioner info allocation_id=a-1 | hold until 02:30 of tomorrow
10:00:04 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=waiting waiting_on=timer
14:00:00 provisioner heartbeat component=provisioner
14:00:01 api heartbeat component=api
`, "workflow.own_timer"},
		// Each upload ends after a minute, and neither end did it.
		{"calls that a proxy ends after one time", dispatched + `
10:01:20 registry error layer=api allocation_id=a-1 | client disconnected during blob PATCH
10:01:20.1 traefik info allocation_id=a-1 | 10.20.0.17 - - "PATCH /v2/w/blobs/uploads/6a1f HTTP/1.1" 499 21 "registry@docker" "http://172.18.0.11:5000" 60004ms
10:01:20.3 build-agent error layer=node_agent node_id=n-a7 allocation_id=a-1 | push failed: write tcp 10.20.0.17:51044->10.20.2.2:443: connection reset by peer; retrying
10:03:20 registry error layer=api allocation_id=a-1 | client disconnected during blob PATCH
10:03:20.1 traefik info allocation_id=a-1 | 10.20.0.17 - - "PATCH /v2/w/blobs/uploads/6a1f HTTP/1.1" 499 21 "registry@docker" "http://172.18.0.11:5000" 60002ms
10:03:20.3 build-agent error layer=node_agent node_id=n-a7 allocation_id=a-1 | push failed: write tcp 10.20.0.17:51044->10.20.2.2:443: connection reset by peer; retrying
10:30:00 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=failed
` + failed, "ingress.ends_each"},
		// What is dialled does not listen, and had said why.
		{"last words of who does not listen", ordered + `
09:41:00 keycloak error layer=api_auth | SSL Library Error: Certificate has expired; the server does not start
10:00:20 provisioner error allocation_id=a-1 | token: Post "https://keycloak1.example.com:443/token": dial tcp 10.0.0.9:443: connect: connection refused
10:04:20 provisioner error allocation_id=a-1 | token: Post "https://keycloak1.example.com:443/token": dial tcp 10.0.0.9:443: connect: connection refused
` + failed, "cert.last_words"},
		// A proxy of the platform's own has no seat for who comes, and says so twice.
		{"a proxy without seats", queued + `
09:58:00.5 azimut info layer=ingress | yard: guest 10.40.7.31 waits, no seat free (4096 of 4096)
10:04:12 node-agent error node_id=n-a7 | tasks/wait: net/http: TLS handshake timeout, 9 in a row
10:08:00 azimut info layer=ingress | 4096 of 4096 seats taken; seats taken back today: 0
` + expired, "ingress.full"},
		// A view goes on showing what was before, and nobody complains.
		{"a view that shows what was", inUse + `
09:10:00 allocation-view warn layer=projection allocation_id=a-1 | GET allocation state=unknown, last change 1500 s ago
09:15:00 node-agent info node_id=n-a7 allocation_id=a-1 | workload running, heartbeat ok
09:20:00 allocation-view warn layer=projection allocation_id=a-1 | GET allocation state=unknown, last change 2100 s ago
09:30:00 allocation-view warn layer=projection allocation_id=a-1 | GET allocation state=unknown, last change 2700 s ago
`, "projection.behind"},
		// It says itself since when it has not moved.
		{"a view that has not moved", inUse + `
09:50:00 allocation-view info layer=projection allocation_id=a-1 | tree of 6, cache unchanged since 09:04:58
10:00:00 allocation-view info layer=projection allocation_id=a-1 | tree of 6, cache unchanged since 09:04:58
10:05:00 cli error allocation_id=a-1 | exec into x1: not there
10:15:00 cli error allocation_id=a-1 | exec into x1: not there
`, "projection.behind"},
		// Who checks a token tells both times, and lets others in.
		{"a token from the future", inUse + `
10:00:05 zitadel warn | assertion rejected: issuedAt of token is in the future: (iat: 2026-03-02 10:04:12 +0000 UTC, now with offset: 2026-03-02 10:00:06 +0000 UTC) client=jo-cli
10:00:05.1 cli error allocation_id=a-1 | token request failed: invalid_request: issuedAt of token is in the future
10:01:05.1 cli error allocation_id=a-1 | token request failed: invalid_request: issuedAt of token is in the future
10:02:05.1 cli error allocation_id=a-1 | token request failed: invalid_request: issuedAt of token is in the future
`, "client.clock"},
		{"a fault by its name", ordered + `
10:00:20 volume-maker error layer=workflow allocation_id=a-1 | failed to create volume: ServerFaultCode: NoPermission
10:10:20 volume-maker error layer=workflow allocation_id=a-1 | failed to create volume: ServerFaultCode: NoPermission
` + failed, "api_auth.no_permission"},
		{"a cluster without its quorum", ordered + `
10:00:20 pvedaemon error layer=provider allocation_id=a-1 | unable to create VM 117 - cluster not ready - no quorum?
10:10:20 pvedaemon error layer=provider allocation_id=a-1 | unable to create VM 117 - cluster not ready - no quorum?
` + failed, "provider.unavailable"},
		// Two writers met on one object, and the work went on.
		{"writers that meet", dispatched + `
10:00:14 metal-controller error layer=workflow allocation_id=a-1 | Operation cannot be fulfilled on "default": the object has been modified; please apply your changes to the latest version and try again
10:02:14 metal-controller error layer=workflow allocation_id=a-1 | Operation cannot be fulfilled on "default": the object has been modified; please apply your changes to the latest version and try again
10:04:14 metal-controller error layer=workflow allocation_id=a-1 | Operation cannot be fulfilled on "default": the object has been modified; please apply your changes to the latest version and try again
10:06:14 metal-controller error layer=workflow allocation_id=a-1 | Operation cannot be fulfilled on "default": the object has been modified; please apply your changes to the latest version and try again
10:08:14 metal-controller error layer=workflow allocation_id=a-1 | Operation cannot be fulfilled on "default": the object has been modified; please apply your changes to the latest version and try again
10:09:00 api task.state task_id=tk-1 node_id=n-a7 to=succeeded claim_id=c-1 fence=1
10:09:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=completed
10:09:02 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
`, "none"},
		// A health check is turned away all the time, long before anybody asked for anything, and all goes well.
		{"what failed before, too", `
09:45:00 postgres error allocation_id=a-1 | FATAL: no pg_hba.conf entry for host '172.18.0.4', user 'monitor', database 'postgres', SSL off
09:50:00 postgres error allocation_id=a-1 | FATAL: no pg_hba.conf entry for host '172.18.0.4', user 'monitor', database 'postgres', SSL off
09:55:00 postgres error allocation_id=a-1 | FATAL: no pg_hba.conf entry for host '172.18.0.4', user 'monitor', database 'postgres', SSL off
` + dispatched + `
10:01:00 postgres error allocation_id=a-1 | FATAL: no pg_hba.conf entry for host '172.18.0.4', user 'monitor', database 'postgres', SSL off
10:03:00 postgres error allocation_id=a-1 | FATAL: no pg_hba.conf entry for host '172.18.0.4', user 'monitor', database 'postgres', SSL off
10:05:00 postgres error allocation_id=a-1 | FATAL: no pg_hba.conf entry for host '172.18.0.4', user 'monitor', database 'postgres', SSL off
10:09:00 api task.state task_id=tk-1 node_id=n-a7 to=succeeded claim_id=c-1 fence=1
10:09:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=completed
10:09:02 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
10:12:00 postgres error allocation_id=a-1 | FATAL: no pg_hba.conf entry for host '172.18.0.4', user 'monitor', database 'postgres', SSL off
`, "none"},
		// The provider took the order and was to call back; of the call nobody tells.
		{"a call back that nobody saw", ordered + `
10:00:03 provisioner provider_job.state allocation_id=a-1 provider=fw provider_job=fw/fw-1/zone/z-551 operation=provision to=Running
10:00:04 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=waiting waiting_on=signal
10:10:00 provisioner info allocation_id=a-1 | waiting for callback z-551
10:30:00 provisioner error allocation_id=a-1 | callback z-551 did not arrive within 30m
10:30:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=timed_out
10:30:02 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
10:31:00 provisioner heartbeat component=provisioner
`, ""},
	} {
		switch v := verdictOn(t, c.told); {
		case c.rule == "none" && v.Outcome == "none":
		case c.rule == "" && v.Outcome == "undetermined":
		case len(v.Faults) != 1 || v.Faults[0].Rule != c.rule:
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
