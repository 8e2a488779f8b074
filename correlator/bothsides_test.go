package correlator_test

import "testing"

// What is found by the words of two who do not speak of each other.
func TestBothSides(t *testing.T) {
	const released = `
10:00:00 api audit.action allocation_id=a-1 actor=u-1 actor_type=user action=release
`
	for _, c := range []struct{ name, told, rule string }{
		// A broker took a queue away whose owner is connected; others miss it by its name.
		{"a queue that its broker took away", ordered + `
09:58:00 rabbitmq info layer=outbox | queue 'reply_2facd0a5d1f14c4f9e4b9f1f3c0a77d2' in vhost 'prov' expired (x-expires=1800000) and was deleted; its owner's connection is open
10:02:00 conductor error layer=provider | the reply failed to send after 60 seconds due to a missing queue (reply_2facd0a5d1f14c4f9e4b9f1f3c0a77d2), abandoning
10:05:00 conductor error layer=provider | the reply failed to send after 60 seconds due to a missing queue (reply_2facd0a5d1f14c4f9e4b9f1f3c0a77d2), abandoning
` + failed, "outbox.removed"},
		// The database is back, and one of its callers goes on with what is closed.
		{"a connection that stays closed", ordered + `
10:01:00 postgres info | LOG:  received fast shutdown request
10:01:01 awx error layer=provider | unhandled error in dispatcher main loop: django.db.utils.InterfaceError: connection already closed
10:02:30 postgres info | LOG:  database system is ready to accept connections
10:10:01 awx error layer=provider | unhandled error in dispatcher main loop: django.db.utils.InterfaceError: connection already closed
10:20:01 awx error layer=provider | unhandled error in dispatcher main loop: django.db.utils.InterfaceError: connection already closed
10:29:00 provisioner warn allocation_id=a-1 | job still pending
` + failed, "provider.closed_connection"},
		// The failure repeats, word by word, what another program had said of itself.
		{"words that are repeated", ordered + `
10:20:00 wartungsturm error layer=provider | the drawer did not come out again within the time that was allotted to it
10:20:05 provisioner error allocation_id=a-1 | step 4 of 7 ended: the drawer did not come out again within the time that was allotted to it (see drawer 12)
` + failed, "provider.quoted"},
		// A packet filter tells of the packets that it threw away, and the step's records name who was to get them.
		{"packets that a filter throws away", ordered + `
10:00:20 dhcpd info layer=provider node_id=n-a7 | DHCPACK on 192.168.99.104 to 0c:42:a1:00:17:01 via br0
10:00:22 in.tftpd error layer=provider node_id=n-a7 | tftpd: oack: Operation not permitted
10:00:22.3 kernel warn host.name=deploy-1 | reject UNMATCHED IN= OUT=br0 SRC=192.168.99.1 DST=192.168.99.104 LEN=42 TOS=0x00 PROTO=UDP SPT=50303 DPT=2070 LEN=22
10:04:22 in.tftpd error layer=provider node_id=n-a7 | tftpd: oack: Operation not permitted
10:04:22.3 kernel warn host.name=deploy-1 | reject UNMATCHED IN= OUT=br0 SRC=192.168.99.1 DST=192.168.99.104 LEN=42 TOS=0x00 PROTO=UDP SPT=50304 DPT=2070 LEN=22
` + failed, "network.filtered"},
		// No name server outside answers, and the way by the proxy works.
		{"several addresses that do not answer", ordered + `
10:02:30 cert-manager error layer=cert allocation_id=a-1 | propagation check failed: dial tcp 64.4.48.5:53: i/o timeout
10:06:40 cert-manager info layer=cert allocation_id=a-1 | order status=pending, 200 OK via http proxy
10:09:10 cert-manager error layer=cert allocation_id=a-1 | propagation check failed: dial tcp 13.107.24.5:53: i/o timeout
` + failed, "network.several_ends"},
		// Each time one account is turned away by who decides on it.
		{"a login that is turned away", ordered + `
10:00:10 rancher error layer=workflow allocation_id=a-1 | pre-create check: cannot log on; no key
10:00:10.1 vpxd error layer=provider | [Originator@6876 sub=User opID=42224782] Failed to authenticate user <rancher@vsphere.local>
10:03:10 rancher error layer=workflow allocation_id=a-1 | pre-create check: cannot log on; no key
10:03:10.1 vpxd error layer=provider | [Originator@6876 sub=User opID=52224799] Failed to authenticate user <rancher@vsphere.local>
` + failed, "api_auth.with_each_failure"},
		// Two administrators change two things in one second, and take them back in one second.
		{"two changes by hand", queued + `
09:59:00 audit audit.action actor=u-1 actor_type=admin action=apply_firewall_ruleset before=880 after=881 reason=CHG-1
09:59:00 audit audit.action actor=u-2 actor_type=admin action=apply_haproxy_listener_set before=43 after=44 reason=CHG-2
10:05:00 node-agent error node_id=n-a7 | tasks/wait: read tcp 10.20.50.50:40999->10.20.8.2:8443: read: connection reset by peer
10:15:00 node-agent error node_id=n-a7 | tasks/wait: read tcp 10.20.50.50:40999->10.20.8.2:8443: read: connection reset by peer
` + expired + `
10:40:00 audit audit.action actor=u-1 actor_type=admin action=apply_firewall_ruleset before=881 after=880 reason=CHG-1-back
10:40:00 audit audit.action actor=u-2 actor_type=admin action=apply_haproxy_listener_set before=44 after=43 reason=CHG-2-back
`, "contested"},
		// The balancer's connections are not answered, the API lives, and the network tells of a lost neighbour.
		{"a way to the back end that is lost", ordered + `
09:59:31 frr info host.name=rr-1 | bgpd: %ADJCHANGE: neighbor 10.90.0.1(spine) in vrf default Down BGP Notification send
09:59:40 haproxy error | Server be_api/ot-1 is DOWN, reason: Layer4 timeout, check duration: 2001ms. 0 active and 0 backup servers left.
10:00:03 provisioner error allocation_id=a-1 | POST /internal/v1/nodes/n-a7/tasks: 503 no server is available
10:04:00 api info host.name=ot-1 | local probe 127.0.0.1:8080/healthz 200 1ms, requests last 60s: 0
10:08:03 provisioner error allocation_id=a-1 | POST /internal/v1/nodes/n-a7/tasks: 503 no server is available
` + failed, "network.cut_between"},
		// The agent asks, and is refused for its certificate; it has not stopped asking.
		{"an agent that is refused for its certificate", queued + `
09:55:00 nginx info | 10.61.0.31 - CN=n-a7 [02/Mar/2026:09:55:00 +0000] "GET /internal/v1/nodes/n-a7/tasks/wait HTTP/1.1" 204 0 "-" "node-agent/6.0"
10:06:06.1 node-agent error node_id=n-a7 | tasks/wait: 400 Bad Request (The SSL certificate error)
10:06:20 nginx info | 10.61.0.33 - CN=n-a9 [02/Mar/2026:10:06:20 +0000] "GET /internal/v1/nodes/n-a9/tasks/wait HTTP/1.1" 200 611 "-" "node-agent/6.0"
10:16:06.1 node-agent error node_id=n-a7 | tasks/wait: 400 Bad Request (The SSL certificate error)
` + expired, "cert.untrusted"},
		// An agent waits, in German, for a process of which its host knows nothing.
		{"an agent that waits in German", dispatched + `
10:00:07 werkmann info layer=node_agent node_id=n-a7 task_id=tk-1 | Sperre /run/auftrag.lock liegt bei pid 811, warte auf dessen Ende
10:05:07 werkmann info layer=node_agent node_id=n-a7 task_id=tk-1 | warte weiter auf pid 811 (300 s)
10:15:07 werkmann info layer=node_agent node_id=n-a7 task_id=tk-1 | warte weiter auf pid 811 (900 s)
10:30:00 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=lost
` + failed, "node_agent.waits"},
		// A standby that died waits for nobody; its primary waits for it, however long ago that was.
		{"a database that goes on waiting", inUse + released + `
09:52:02 postgres info host.name=pg-b | startup process (PID 31) was terminated by signal 6: Aborted; aborting startup due to startup process failure
10:00:30 nginx error allocation_id=a-1 | 2026/03/02 10:00:30 [error] 31#31: *411 upstream timed out (110: Operation timed out) while reading response header from upstream, client: 10.20.4.9, server: api.example, request: "DELETE /v1/allocations/a-1 HTTP/1.1", upstream: "https://10.20.8.3:8443/v1/allocations/a-1"
10:00:31 api warn allocation_id=a-1 | DELETE /v1/allocations/a-1: client went away after 30s, handler still in tx.Commit
10:05:30 nginx error allocation_id=a-1 | 2026/03/02 10:05:30 [error] 31#31: *460 upstream timed out (110: Operation timed out) while reading response header from upstream, client: 10.20.4.9, server: api.example, request: "DELETE /v1/allocations/a-1 HTTP/1.1", upstream: "https://10.20.8.3:8443/v1/allocations/a-1"
10:08:30 nginx error allocation_id=a-1 | 2026/03/02 10:08:30 [error] 31#31: *502 upstream timed out (110: Operation timed out) while reading response header from upstream, client: 10.20.4.9, server: api.example, request: "DELETE /v1/allocations/a-1 HTTP/1.1", upstream: "https://10.20.8.3:8443/v1/allocations/a-1"
10:10:00 api heartbeat component=api
`, "db.down"},
		// The launcher has two numbers for one step, and no failure between.
		{"a job launched twice, by its launcher's lines", ordered + `
10:00:02 provisioner info allocation_id=a-1 | POST /api/v2/job_templates/prov/launch/ 201 id=8101
10:00:02.2 provisioner info allocation_id=a-1 | status not stored, requeue
10:00:03 provisioner info allocation_id=a-1 | POST /api/v2/job_templates/prov/launch/ 201 id=8102
10:00:41 awx error layer=provider provider_job=awx/a/job/8102 allocation_id=a-1 | fatal: lease of n-a7 is held by job 8101
10:00:46 provisioner error allocation_id=a-1 | provision failed: job 8102 failed
` + failed, "workflow.launched_again"},
		// arpwatch sees the address that is dialled go from one card to another.
		{"an address that flips", queued + `
10:01:10 arpwatch info layer=network | flip flop 10.20.0.100 00:1b:c7:8a:01:33 (00:00:5e:00:01:14) vlan 20
10:02:00 node-agent error node_id=n-a7 | tasks/wait: Get "https://10.20.0.100/internal/v1/nodes/n-a7/tasks/wait": dial tcp 10.20.0.100:443: connect: connection refused
10:12:00 node-agent error node_id=n-a7 | tasks/wait: Get "https://10.20.0.100/internal/v1/nodes/n-a7/tasks/wait": dial tcp 10.20.0.100:443: connect: connection refused
` + expired, "network.two_answers"},
		// It got the signal before it waited for it, in its own language.
		{"a signal that came too early", ordered + `
10:01:42.1 ablauf warn layer=workflow allocation_id=a-1 | Meldung STAND_BEREIT empfangen, kein Schritt wartet darauf, verworfen
10:02:10.3 ablauf info layer=workflow allocation_id=a-1 | Schritt 4 wartet auf STAND_BEREIT
10:29:10.3 ablauf info layer=workflow allocation_id=a-1 | Schritt 4 wartet seit 1600 s auf STAND_BEREIT
10:30:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=timed_out
10:30:01.2 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`, "workflow.dropped"},
		// A machine refuses a key whose certificate is over, by its own line at INFO.
		{"an SSH certificate that is over", ordered + `
10:00:02 provisioner provider_job.state allocation_id=a-1 provider=awx provider_job=awx/a/job/7 operation=provision to=Running
10:00:31 journald info node_id=n-a7 | sshd[2211]: error: Certificate invalid: expired
10:00:32 awx error provider_job=awx/a/job/7 allocation_id=a-1 | fatal: [n-a7]: UNREACHABLE! => {"msg": "Failed to connect to the host via ssh: awx@n-a7: Permission denied (publickey).", "unreachable": true}
10:00:33 provisioner provider_job.state allocation_id=a-1 provider=awx provider_job=awx/a/job/7 operation=provision to=Failed provider_status=failed
10:00:40 awx heartbeat component=awx
` + failed, "cert.expired"},
		{"an account whose password is over", ordered + `
10:00:02 provisioner error allocation_id=a-1 | vCenter vc01 not available: Cannot complete login
10:00:02.1 vcenter warn layer=provider | Failed to authenticate principal [svc-prov]. [LDAP: error code 49 - 80090308: AcceptSecurityContext error, data 532, v4563]
10:04:02 provisioner error allocation_id=a-1 | vCenter vc01 not available: Cannot complete login
10:04:02.1 vcenter warn layer=provider | Failed to authenticate principal [svc-prov]. [LDAP: error code 49 - 80090308: AcceptSecurityContext error, data 532, v4563]
` + failed, "api_auth.credential"},
		// The relay told of the row, sends nothing, and speaks of itself.
		{"a relay that sends nothing", `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:00.2 brevduva outbox.record layer=outbox allocation_id=a-1 outbox_id=o-1 to=pending
10:05:00 brevduva info layer=outbox | inget skickas, 3 brev i kön
10:20:00 brevduva info layer=outbox | inget skickas, 8 brev i kön
10:30:00 brevduva info layer=outbox | inget skickas, 11 brev i kön
10:30:01 api allocation.state allocation_id=a-1 from=requested to=canceled reason=start_deadline
10:31:00 provisioner heartbeat component=provisioner
10:31:01 brevduva heartbeat layer=outbox component=brevduva
`, "outbox.holds"},
		// Since the rollout a site has no value, and its own program says so.
		{"a value that a rollout lost", `
09:30:00 deployer deploy.change component=provisioner config=values-prod.yaml from=rev-118 to=rev-119
` + ordered + `
10:00:03 provisioner error allocation_id=a-1 | clone spec for site graz: no port group configured, refusing to attach NIC 1
10:01:03 provisioner error allocation_id=a-1 | clone spec for site graz: no port group configured, refusing to attach NIC 1
` + failed, "deploy.change"},
		// A view tells a condition as it was long before, and the step waits for it.
		{"a condition that a view keeps", ordered + `
10:05:00 read-model warn layer=projection | c-7 conditions: Connected=False reason=Disconnected, lastUpdateTime 2026-03-02T09:11:07Z
10:09:00 read-model warn layer=projection | c-7 conditions: Connected=False reason=Disconnected, lastUpdateTime 2026-03-02T09:11:07Z
10:29:00 provisioner warn allocation_id=a-1 | still waiting for cluster condition Connected=True
` + failed, "projection.old_view"},
		// A process panics at INFO, each time that one call is made, and serves others.
		{"a panic at the level of a greeting", ordered + `
10:00:02 control-api info layer=api | http: panic serving 10.9.3.2:40822: assignment to entry in nil map goroutine 8812 [running]: internal/plan.(*Plan).Attach(0x0) plan.go:118
10:00:02.2 provisioner error allocation_id=a-1 | activity AttachPlan attempt 1: 502 Bad Gateway
10:01:02 control-api info layer=api | http: panic serving 10.9.3.2:40901: assignment to entry in nil map goroutine 8903 [running]: internal/plan.(*Plan).Attach(0x0) plan.go:118
10:01:02.2 provisioner error allocation_id=a-1 | activity AttachPlan attempt 2: 502 Bad Gateway
` + failed, "api.with_each_failure"},
		// The proxy answers by itself, by its own mark, each time.
		{"a proxy whose queue is full", ordered + `
10:00:07 haproxy info http.response.status_code=503 proxy.flags=sQ-- | 10.9.3.7:51210 [02/Mar/2026:10:00:02.001] fe be/<NOSRV> 0/5001/-1/-1/5001 503 217 - - sQ-- 61/61/40/0/0 0/59 "POST /internal/v1/nodes/n-a7/tasks HTTP/1.1"
10:00:07.2 provisioner error allocation_id=a-1 | activity QueueTask attempt 1: the API returned 503
10:04:13 haproxy info http.response.status_code=503 proxy.flags=sQ-- | 10.9.3.7:51277 [02/Mar/2026:10:04:08.004] fe be/<NOSRV> 0/5000/-1/-1/5000 503 217 - - sQ-- 62/62/40/0/0 0/57 "POST /internal/v1/nodes/n-a7/tasks HTTP/1.1"
10:04:13.2 provisioner error allocation_id=a-1 | activity QueueTask attempt 2: the API returned 503
` + failed, "ingress.limited"},
		// The network did not take the machine's port out of the network in which it asks in vain.
		{"a port that was not set", ordered + `
10:00:09 sdn warn layer=network node_id=n-a7 | leaf-1: commit failed: configuration session locked; giving up
10:04:02 dnsmasq info node_id=n-a7 | dnsmasq-dhcp[12]: DHCPDISCOVER(vlan30) 3c:ec:ef:70:1a:08 no address available
10:29:40 provisioner error allocation_id=a-1 | node n-a7: timeout reached while waiting for callback
` + failed, "network.port_not_set"},
		// The API counts who asked it for work, and the machine is not among them.
		{"an agent that is counted at nought", queued + `
10:05:00 slotd heartbeat layer=node_agent component=node-agent node_id=n-a7
10:08:00 api info | requests tasks/wait by node: n-a6=2 n-a7=0 n-a9=2
10:15:00 slotd heartbeat layer=node_agent component=node-agent node_id=n-a7
` + expired, "node_agent.asks_no_more"},
		// The machine's own policy denies what then ends.
		{"a program that its machine denies", ordered + `
10:00:41.2 kernel info node_id=n-a7 | audit: type=1400 apparmor="DENIED" operation="exec" profile="libvirtd" name="/usr/libexec/qemu-kvm" comm="rpc-worker"
10:00:45 kubelet warn node_id=n-a7 | Back-off restarting failed container virt-launcher in pod virt-handler-hnpnv
10:10:41.2 kernel info node_id=n-a7 | audit: type=1400 apparmor="DENIED" operation="exec" profile="libvirtd" name="/usr/libexec/qemu-kvm" comm="rpc-worker"
10:10:45 kubelet warn node_id=n-a7 | Back-off restarting failed container virt-launcher in pod virt-handler-hnpnv
` + failed, "node.denied"},
		{"a name server that is full", ordered + `
10:00:07 dnsmasq warn | dnsmasq[418]: Maximum number of concurrent DNS queries reached (max: 150)
10:00:12 provisioner error allocation_id=a-1 | template not found, the name of awx.example has no address
10:08:07 dnsmasq warn | dnsmasq[418]: Maximum number of concurrent DNS queries reached (max: 150)
` + failed, "network.resolver_full"},
		// Who receives the answer does not take it for its size.
		{"an answer that its receiver does not take", inUse + `
10:00:20 cli error allocation_id=a-1 | list: rpc error: code = ResourceExhausted desc = grpc: received message larger than max (40608696 vs. 4194304)
10:02:20 cli error allocation_id=a-1 | list: rpc error: code = ResourceExhausted desc = grpc: received message larger than max (40608696 vs. 4194304)
10:04:20 cli error allocation_id=a-1 | list: rpc error: code = ResourceExhausted desc = grpc: received message larger than max (40608696 vs. 4194304)
10:05:00 api heartbeat component=api
`, "client.limit"},
		// The directory serves others, and one of its callers goes on with what is closed.
		{"a directory's connection that stays closed", inUse + `
10:00:15 gateway error layer=api allocation_id=a-1 | Internal Error, LDAP Result Code 200 "Network Error": ldap: connection closed
10:00:40 lldap info layer=api_auth | LDAP session: bind "uid=test" success
10:04:15 gateway error layer=api allocation_id=a-1 | Internal Error, LDAP Result Code 200 "Network Error": ldap: connection closed
10:08:15 gateway error layer=api allocation_id=a-1 | Internal Error, LDAP Result Code 200 "Network Error": ldap: connection closed
10:08:16 cli error allocation_id=a-1 | list failed: internal error
`, "api.closed_connection"},
		// What the provider was given it could not take: who gave it is not told.
		{"a job that was given what there is not", ordered + `
10:00:02 provisioner provider_job.state allocation_id=a-1 provider=vcenter provider_job=vcenter/v/task/7 operation=provision to=Running
10:20:03 provisioner provider_job.state allocation_id=a-1 provider=vcenter provider_job=vcenter/v/task/7 operation=provision to=Failed provider_status=error provider_explanation="A specified parameter was not correct: spec.location"
10:21:00 vcenter heartbeat component=vcenter layer=provider
` + failed, ""},
	} {
		switch v := verdictOn(t, c.told); {
		case c.rule == "" && v.Outcome == "undetermined":
		case c.rule == "contested" && v.Outcome == "contested" && len(v.Faults) == 2:
		case len(v.Faults) != 1 || v.Faults[0].Rule != c.rule:
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
