package correlator_test

import "testing"

// Whose what is that others' words alone tell of: a way, a switch, a client's clock.
func TestWhatIsToldByOthers(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		// A probe tells of packets of three sizes in one line. The small ones pass and the large ones do not; the download of the machine at that end stops each time.
		{"sizes that stand before their bytes", `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=running
10:00:01.2 provisioner node.assigned allocation_id=a-1 node_id=n-c7
10:00:02 provisioner task.state task_id=tk-1 workflow_id=wf-1 node_id=n-c7 type=slice.vm_provision to=queued
10:00:04 api task.state task_id=tk-1 node_id=n-c7 node_instance_id=ni-c7-1 to=dispatched claim_id=c-1 fence=1 lease_until=2026-03-02T10:30:04Z
10:05:07 node-agent error node_id=n-c7 node_instance_id=ni-c7-1 task_id=tk-1 | download stalled: 13720 bytes in 300s, retry 1/2
10:08:00 network-probe warn | hall-a -> n-c7 10.3.4.12: 64 bytes ok 0.6 ms; 8972 bytes DF: no reply 20/20; 1472 bytes DF ok
10:10:10 node-agent task.state task_id=tk-1 node_id=n-c7 node_instance_id=ni-c7-1 to=failed claim_id=c-1 fence=1 reason="image download: no progress"
10:10:11 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=failed
10:10:12 provisioner allocation.state allocation_id=a-1 workflow_id=wf-1 from=provisioning to=failed reason=task_failed
`, "network.mtu"},
		// Who checks a client's requests tells when each was signed and when it came: fourteen minutes lie between. Others' clocks are right by the same word.
		{"request signed in the past", `
08:00:00 api allocation.state allocation_id=a-1 from=provisioning to=active
10:05:10 auth-service info | signature ok key=k-2 host=bastion skew=-0.4s
10:14:22.0 cli error allocation_id=a-1 | DELETE /v1/allocations/a-1: 401 outside window
10:14:22.1 auth-service warn allocation_id=a-1 | signature refused key=k-1 host=runner-3: signed at 2026-03-02T10:00:09Z, received 2026-03-02T10:14:22Z, window 300s
10:19:22.0 cli error allocation_id=a-1 | DELETE /v1/allocations/a-1: 401 outside window
10:19:22.1 auth-service warn allocation_id=a-1 | signature refused key=k-1 host=runner-3: signed at 2026-03-02T10:05:09Z, received 2026-03-02T10:19:22Z, window 300s
10:24:22.0 cli error allocation_id=a-1 | DELETE /v1/allocations/a-1: 401 outside window
10:24:22.1 auth-service warn allocation_id=a-1 | signature refused key=k-1 host=runner-3: signed at 2026-03-02T10:10:09Z, received 2026-03-02T10:24:22Z, window 300s
10:30:00 auth-service heartbeat component=auth-service
`, "client.clock"},
		// A card of a switch fails, and the links of all machines on it go down at once. The machine's own kernel says no more than that its link is down.
		{"links of a card that failed", `
13:00:00 provisioner node.assigned node_id=n-k05 allocation_id=a-1
14:00:00 api allocation.state allocation_id=a-1 from=active to=releasing
14:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=release to=running
14:00:02 provisioner task.state task_id=tk-1 workflow_id=wf-1 node_id=n-k05 type=allocation.deprovision_user to=queued
14:00:05 api task.state task_id=tk-1 node_id=n-k05 node_instance_id=ni-k05-2 to=dispatched claim_id=c-1 fence=1 lease_until=2026-03-02T14:10:05Z
14:00:31 switch error host.name=agg-k1 layer=network | %MODULE-2-MOD_FAIL: Linecard 3 failed, heartbeat lost, resetting
14:00:31.4 switch warn host.name=agg-k1 layer=network | %LINK-3-UPDOWN: 10 interfaces on Linecard 3 changed state to down (Et3/1 n-k01 ... Et3/5 n-k05 ... Et3/10 n-k10)
14:00:32 kernel warn node_id=n-k05 node_instance_id=ni-k05-2 | [88120.440] mlx5_core 0000:3b:00.0 eno1: Link down
14:10:06 api task.state task_id=tk-1 node_id=n-k05 to=lost claim_id=c-1 fence=1 reason=lease_expired
14:10:07 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=release to=failed
14:10:08 provisioner allocation.state allocation_id=a-1 workflow_id=wf-1 from=releasing to=release_failed reason=task_lost
14:12:00 provisioner heartbeat component=provisioner
`, "network.own_word"},
		// A machine whose own clock stands in its word on a certificate that is not valid yet.
		{"a clock that stands days back", `
10:00:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01 provisioner node.assigned allocation_id=a-1 node_id=n-1
10:00:02 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:03:00 node-agent error node_id=n-1 node_instance_id=i-1 | enrol: The remote certificate is invalid because of errors in the certificate chain: NotTimeValid (local time 2026-02-19T10:02:58Z is before notBefore 2026-02-25T03:59:00Z)
10:18:00 node-agent error node_id=n-1 node_instance_id=i-1 | enrol: The remote certificate is invalid because of errors in the certificate chain: NotTimeValid (local time 2026-02-19T10:17:58Z is before notBefore 2026-02-25T03:59:00Z)
10:32:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=timed_out
10:32:02 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=enrolment_timeout
`, "node.clock"},
		// A caller's pool that is empty, while the database tells in MySQL's words that it has room.
		{"an empty pool and room in the database", `
10:00:00 api allocation.state allocation_id=a-1 from=active to=releasing
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=release to=running
10:00:31.2 api error allocation_id=a-1 | o.h.engine.jdbc.spi.SqlExceptionHelper : HikariPool-1 - Connection is not available, request timed out after 30000ms (total=20, active=20, idle=0, waiting=57)
10:02:00 mysql info | Threads_connected 24, Threads_running 2, max_connections 600, Aborted_connects 0
10:06:01.7 api error allocation_id=a-1 | o.h.engine.jdbc.spi.SqlExceptionHelper : HikariPool-1 - Connection is not available, request timed out after 30000ms (total=20, active=20, idle=0, waiting=61)
10:30:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=release to=timed_out
10:30:01.3 provisioner allocation.state allocation_id=a-1 from=releasing to=release_failed reason=deadline
10:31:00 provisioner heartbeat component=provisioner
`, "api.pool"},
		// A playbook's file that its rollout no longer brings.
		{"a template that a rollout took away", `
12:00:00 argocd deploy.change component=retail-playbooks from=2026.9 to=2026.10 version=2026.10
12:10:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
12:10:01 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
12:10:02 aap provider_job.state allocation_id=a-1 provider=aap provider_job=aap/p/job/7 operation=provision to=Running
12:10:31 aap error allocation_id=a-1 provider_job=aap/p/job/7 | fatal: [n-1 -> localhost]: FAILED! => {"changed": false, "msg": "Could not find or access 'store.ks.j2' on the Ansible Controller."}
12:10:40 aap provider_job.state allocation_id=a-1 provider=aap provider_job=aap/p/job/7 operation=provision to=Failed provider_status=failed
12:10:41 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
12:10:42 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
12:21:00 aap heartbeat component=aap
`, "deploy.change"},
	} {
		if v := verdictOn(t, c.told); len(v.Faults) != 1 || v.Faults[0].Rule != c.rule {
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
