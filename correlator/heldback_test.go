package correlator_test

import "testing"

// Orders that wait, and who keeps them: by the word of who waits for them, who watches them, or who was asked.
func TestWhoKeepsAnOrder(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		{"a row behind one that cannot be sent, until the platform called the order off", `
08:59:12 outbox-relay warn outbox_id=ob-8 | Satz 8 hat keinen Betreff, kann nicht zugestellt werden
08:59:12.1 outbox-relay outbox.record outbox_id=ob-8 to=failed attempt_count=1
09:02:00 api allocation.state allocation_id=a-1 to=requested
09:02:00.2 outbox-relay outbox.record allocation_id=a-1 outbox_id=ob-9 subject=prov.requested to=pending
09:04:12 outbox-relay warn outbox_id=ob-8 | Satz 8 hat keinen Betreff, Versuch 6; dahinter warten 27
09:22:00 api warn allocation_id=a-1 | requested for 20m, no workflow known
09:32:00 api allocation.state allocation_id=a-1 from=requested to=canceled actor=system reason=start_deadline
09:33:00 outbox-relay heartbeat component=outbox-relay
09:33:02 provisioner heartbeat component=provisioner
`, "outbox.owed"},
		{"a lane that a run holds which has ended", `
08:30:00 api allocation.state allocation_id=a-1 to=requested
08:30:01 gantry workflow.state allocation_id=a-1 workflow_id=gn-7788 operation=provision to=running
08:30:02 gantry allocation.state allocation_id=a-1 from=requested to=provisioning
08:34:00 awx info | instance group krk: capacity 40, consumed 6
08:45:03 gantry info allocation_id=a-1 workflow_id=gn-7788 | run 7788 queues for lane r12, held by run 7710 (last sign of 7710: 03:10:14, finished)
09:15:03 gantry workflow.state allocation_id=a-1 workflow_id=gn-7788 operation=provision to=timed_out
09:15:04 gantry allocation.state allocation_id=a-1 from=provisioning to=failed reason=lane_wait_deadline
09:16:00 api heartbeat component=api
`, "workflow.lock_left"},
		{"an agent that asks for nothing, by the API's word", `
07:00:00 api allocation.state allocation_id=a-1 to=requested
07:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=running
07:00:01.2 provisioner node.assigned allocation_id=a-1 node_id=bf-077
07:00:02 provisioner task.state allocation_id=a-1 task_id=tk-1 node_id=bf-077 type=slice.vm_provision to=queued
07:02:00 node-agent heartbeat component=node-agent node_id=bf-077
07:07:00 api warn | 1 node heartbeats but has not polled tasks/wait since 2026-03-01T16:19:30Z: bf-077
07:15:02 provisioner task.state task_id=tk-1 workflow_id=wf-1 node_id=bf-077 to=expired reason=not_claimed
07:15:03 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=failed
07:15:04 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=task_expired
07:16:01 api heartbeat component=api
`, "node_agent.asks_no_more"},
		{"a caller whose own condition does not hold", `
14:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
15:00:05 api warn allocation_id=a-1 | DELETE refused: If-Match "v7" does not match current "v9"; read the allocation again and retry
15:00:05.2 cli error allocation_id=a-1 | delete a-1: 412 Precondition Failed, retrying
15:05:05 api warn allocation_id=a-1 | DELETE refused: If-Match "v7" does not match current "v9"; read the allocation again and retry
15:05:05.2 cli error allocation_id=a-1 | delete a-1: 412 Precondition Failed, retrying
15:40:05 api warn allocation_id=a-1 | DELETE refused: If-Match "v7" does not match current "v9"; read the allocation again and retry
15:40:05.2 cli error allocation_id=a-1 | delete a-1: 412 Precondition Failed, giving up
15:50:00 api heartbeat component=api
`, "client.malformed"},
		{"a template that a rollout names and nobody made", `
06:00:03 deployer deploy.change component=image-catalog config=default-images from=rhel9-2026.01 to=rhel9-2026.02
07:30:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=running
07:30:02 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
07:30:04 provisioner provider_job.state allocation_id=a-1 provider=awx provider_job=awx/p/job/91 operation=provision to=Running
07:30:39 awx error allocation_id=a-1 provider_job=awx/p/job/91 | fatal: [localhost]: FAILED! => {"changed": false, "msg": "Could not find a template named rhel9-2026.02"}
07:31:04 provisioner provider_job.state allocation_id=a-1 provider=awx provider_job=awx/p/job/91 operation=provision to=Failed provider_status=failed
07:31:05 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=failed
07:31:06 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
07:40:01 awx heartbeat component=awx
`, "deploy.change"},
		{"a job whose end came before its workflow waited for it", `
09:13:50 api allocation.state allocation_id=a-1 to=requested
09:13:55 ablauf workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
09:13:56 ablauf allocation.state allocation_id=a-1 from=requested to=provisioning
09:14:01.2 werk provider_job.state allocation_id=a-1 provider=werk provider_job=werk/fw/1 operation=firmware to=Running
09:14:02 werk provider_job.state provider=werk provider_job=werk/fw/1 operation=firmware to=Succeeded
09:14:02.5 ablauf workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=waiting waiting_on=provider
10:20:00 api heartbeat component=api
10:20:01 ablauf workflow.state allocation_id=a-2 workflow_id=w-2 operation=provision to=running
10:20:02 maas heartbeat component=maas
`, "workflow.overdue"},
		{"places in an API's gate that nobody gives back", `
08:19:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
12:05:00 api error allocation_id=a-1 http.request.method=POST url.path=/v2/allocations/a-1/release http.response.status_code=429 | write refused, gate says full (64 of 64)
12:05:00.2 ui warn allocation_id=a-1 | release a-1: too many requests, please wait
12:10:00 api error allocation_id=a-1 http.request.method=POST url.path=/v2/allocations/a-1/release http.response.status_code=429 | write refused, gate says full (64 of 64)
12:15:00 api warn | gate report: places taken 64, writes really running 0, oldest place taken 12:00:02
12:25:00 api error allocation_id=a-1 http.request.method=POST url.path=/v2/allocations/a-1/release http.response.status_code=429 | write refused, gate says full (64 of 64)
12:30:00 api error allocation_id=a-1 http.request.method=POST url.path=/v2/allocations/a-1/release http.response.status_code=429 | write refused, gate says full (64 of 64)
12:35:00 ui error allocation_id=a-1 | release a-1: given up after 8 attempts
12:55:00 api heartbeat component=api
`, "api.turns_all_away"},
		{"a message that takes longer than its broker waits", `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:02 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:03 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
10:05:02 provisioner warn allocation_id=a-1 | EVENT_LOG-4-MAXPOLL: Application maximum poll interval (300000ms) exceeded by 12ms: leaving group
10:05:03 kafka info | [GroupCoordinator 1]: Preparing to rebalance group provisioning in state PreparingRebalance (reason: Member worker-1 leaving)
10:12:04 provisioner warn allocation_id=a-1 | EVENT_LOG-4-MAXPOLL: Application maximum poll interval (300000ms) exceeded by 15ms: leaving group
10:20:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=timed_out
10:20:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`, "workflow.patience"},
		{"a guest that wants large pages where none are", `
10:00:02 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:02.5 provisioner node.assigned allocation_id=a-1 node_id=n-1
10:00:03 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:20 virt-launcher error node_id=n-1 | internal error: qemu-kvm: -object memory-backend-memfd,hugetlb=yes,host-nodes=1,policy=bind: os_mem_prealloc: Insufficient free host memory pages available to allocate guest RAM
10:01:20 virt-launcher error node_id=n-1 | internal error: qemu-kvm: -object memory-backend-memfd,hugetlb=yes,host-nodes=1,policy=bind: os_mem_prealloc: Insufficient free host memory pages available to allocate guest RAM
10:20:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:20:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`, "node.hugepages"},
		{"a secret that the issuer is about to make", `
10:00:02 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:03 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:30 cert-manager error allocation_id=a-1 | Error checking existing TLS certificate: secret "gpu-17-tls" not found
10:00:34 cert-manager error allocation_id=a-1 | Error preparing issuer for certificate: 429 urn:acme:error:rateLimited: Error creating new authz :: too many failed authorizations recently
10:10:35 cert-manager error allocation_id=a-1 | certificates controller: Re-queuing item due to error processing: 429 urn:acme:error:rateLimited
10:14:40 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:14:41 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`, "cert.not_issued"},
		{"large packets that a probe counts, beside a warm disk", `
11:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=running
11:00:01.2 provisioner node.assigned allocation_id=a-1 node_id=bf-902
11:00:01.6 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
11:00:02 provisioner task.state allocation_id=a-1 task_id=tk-1 workflow_id=wf-1 node_id=bf-902 type=slice.vm_provision to=queued
11:00:03 node-agent task.state task_id=tk-1 node_id=bf-902 node_instance_id=i-4 claim_id=c-1 to=running
11:03:04 node-agent warn node_id=bf-902 node_instance_id=i-4 task_id=tk-1 | download: 0 bytes of body in 180s, reconnecting (2)
11:03:30 kernel info node_id=bf-902 node_instance_id=i-4 | nvme nvme0: temperature above threshold, composite 71 C
11:06:00 network-probe info | bf-902 -> images 10.50.0.8: icmp 56 bytes: 20/20 received, rtt 0.3ms
11:06:05 network-probe error layer=network node_id=bf-902 | bf-902 -> images 10.50.0.8: icmp 8972 bytes df=1: 0/20 received, no frag-needed returned
11:18:00 node-agent error node_id=bf-902 node_instance_id=i-4 task_id=tk-1 | image download failed: read tcp 10.50.9.2:40112->10.50.0.8:80: i/o timeout
11:18:01 node-agent task.state task_id=tk-1 node_id=bf-902 node_instance_id=i-4 claim_id=c-1 to=failed reason=image_timeout
11:18:02 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=failed
11:18:03 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=task_failed
`, "network.mtu"},
	} {
		if v := verdictOn(t, c.told); len(v.Faults) != 1 || v.Faults[0].Rule != c.rule {
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
