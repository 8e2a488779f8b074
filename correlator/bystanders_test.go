package correlator_test

import "testing"

// What those tell who stand beside a step: a capture, a probe, a proxy of the caller's, a supervisor, a scheduler, and machines of another version.
func TestBystandersTell(t *testing.T) {
	const refused = `
10:00:30 cli error layer=client allocation_id=a-1 | Failed to get namespace info: (0) Request error (403): No error explained
10:03:30 cli error layer=client allocation_id=a-1 | Failed to get namespace info: (0) Request error (403): No error explained
10:06:30 cli error layer=client allocation_id=a-1 | Failed to get namespace info: (0) Request error (403): No error explained
`
	for _, c := range []struct{ name, told, rule string }{
		{"a proxy of the caller's that refuses, asked for a whole address", inUse + `
10:00:05 cli info layer=client allocation_id=a-1 | environment: http_proxy=http://proxy.corp.example:3128 no_proxy=(unset)
10:00:29.9 squid info layer=network | 1772445606.318 0 10.9.0.4 TCP_DENIED/403 3921 GET http://10.20.0.5:6006/v3.0/info - HIER_NONE/- text/html
10:03:29.9 squid info layer=network | 1772445786.318 0 10.9.0.4 TCP_DENIED/403 3921 GET http://10.20.0.5:6006/v3.0/info - HIER_NONE/- text/html
10:06:29.9 squid info layer=network | 1772445966.318 0 10.9.0.4 TCP_DENIED/403 3921 GET http://10.20.0.5:6006/v3.0/info - HIER_NONE/- text/html
10:06:00 api heartbeat component=api
` + refused, "client.own_proxy"},
		{"an arping that two cards answer", inUse + `
10:00:30 cli error layer=client allocation_id=a-1 | Post "https://192.168.0.100:6443/v1/allocations/extend": read: connection reset by peer
10:03:30 cli error layer=client allocation_id=a-1 | Post "https://192.168.0.100:6443/v1/allocations/extend": read: connection reset by peer
10:06:30 cli error layer=client allocation_id=a-1 | Post "https://192.168.0.100:6443/v1/allocations/extend": read: connection reset by peer
10:04:00 network-probe warn | arping 192.168.0.100: Unicast reply from 192.168.0.100 [52:54:00:9A:11:02] 0.8ms; Unicast reply from 192.168.0.100 [52:54:00:D4:04:50] 0.9ms
10:06:00 api heartbeat component=api
`, "network.two_answers"},
		{"a capture of packets to where a name was before", queued + `
09:30:00 named info layer=network | zone example.com/IN: salt.example.com A 10.20.0.9 -> 10.20.0.40 ttl 60
10:00:10 salt-minion error layer=node_agent node_id=n-a7 | [salt.crypt][ERROR] Attempt to authenticate with the salt master failed
10:00:12 tcpdump info layer=node node_id=n-a7 | IP 10.20.0.17.41880 > 10.20.0.9.4506: Flags [S], seq 2719361, win 64240, length 0
10:03:10 salt-minion error layer=node_agent node_id=n-a7 | [salt.crypt][ERROR] Attempt to authenticate with the salt master failed
10:03:12 tcpdump info layer=node node_id=n-a7 | IP 10.20.0.17.41902 > 10.20.0.9.4506: Flags [S], seq 9719361, win 64240, length 0
10:10:02 provisioner task.state task_id=tk-1 node_id=n-a7 to=expired reason=not_claimed
10:10:03 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`, "node_agent.stale_address"},
		{"what fails where the new version is, and goes well where the old one is", ordered + `
09:00:00 argocd deploy.change component=node-image from=hv-2.1 to=hv-2.2 version=hv-2.2
10:00:20 oned error layer=provider allocation_id=a-1 | DEPLOY: XPath set is empty error: Cannot check QEMU binary /usr/bin/qemu-kvm-one: No such file or directory
10:01:00 oned error layer=provider node_id=gpu-18 | error: Cannot check QEMU binary /usr/bin/qemu-kvm-one: No such file or directory (host gpu-18, image hv-2.2)
10:01:10 oned info layer=provider | VM 14 on host gpu-03 (image hv-2.1): New LCM state is RUNNING
` + failed, "deploy.by_version"},
		{"a planner that tried each host before it had none left", ordered + `
10:00:22 cloudstack-agent warn layer=provider allocation_id=a-1 node_id=n-a7 | LibvirtException: qemu unexpectedly closed the monitor: Failed to start VNC server: The server certificate /etc/pki/libvirt-vnc/server-cert.pem has expired
10:02:22 cloudstack-agent warn layer=provider allocation_id=a-1 node_id=n-a7 | LibvirtException: qemu unexpectedly closed the monitor: Failed to start VNC server: The server certificate /etc/pki/libvirt-vnc/server-cert.pem has expired
10:06:52 cloudstack-management error layer=workflow allocation_id=a-1 | caused by: com.cloud.exception.InsufficientServerCapacityException: Unable to create a deployment for VM
` + failed, "cert.expired_local"},
		{"a user who acts on what a view shows that is behind", inUse + `
09:48:21 ui-projection warn | allocation_view: subscription at checkpoint 8144077487, no new events
09:56:40 api info allocation_id=a-1 | allocation state active -> degraded appended to stream a-1 rev 41
09:58:20 api info allocation_id=a-1 | allocation state degraded -> active appended to stream a-1 rev 42
10:00:20 ui-projection warn | allocation_view lag 720 s and rising, checkpoint 8144077487
10:01:00 ui info layer=client allocation_id=a-1 | GET /ui/allocations/a-1: shows member gpu-11 (removed), last update 09:48
10:01:30 cli error layer=client allocation_id=a-1 | open-console from UI: 404 member gpu-11 not part of allocation
10:05:10 ui-projection warn | allocation_view lag 1010 s and rising, checkpoint 8144077487
10:09:30 cli error layer=client allocation_id=a-1 | open-console from UI: 404 member gpu-11 not part of allocation
10:17:30 cli error layer=client allocation_id=a-1 | open-console from UI: 404 member gpu-11 not part of allocation
`, "projection.behind"},
		{"a probe whose new connection works, beside an agent that keeps to one that is dead", queued + `
10:00:05 kubelet error layer=node_agent node_id=n-a7 | failed to update node lease: Put "https://api.example:8443/leases/n-a7": write tcp 16.155.199.17:41718->16.155.199.4:8443: use of closed network connection
10:02:30 network-probe info | n-a7 -> api.example:8443 tcp ok 0.4 ms, tls ok, /livez 200 (new connection)
10:04:05 kubelet error layer=node_agent node_id=n-a7 | failed to update node lease: Put "https://api.example:8443/leases/n-a7": write tcp 16.155.199.17:41718->16.155.199.4:8443: use of closed network connection
10:09:05 kubelet error layer=node_agent node_id=n-a7 | failed to update node lease: Put "https://api.example:8443/leases/n-a7": write tcp 16.155.199.17:41718->16.155.199.4:8443: use of closed network connection
10:10:02 provisioner task.state task_id=tk-1 node_id=n-a7 to=expired reason=not_claimed
10:10:03 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`, "node_agent.closed_connection"},
		{"an API that answers others the same, beside a program that fails at each answer", inUse + `
10:00:20.1 api info allocation_id=a-1 | GET /v1/allocations/a-1 200 4112 18ms user-agent=ctl/0.14.0
10:00:20.2 cli error layer=client allocation_id=a-1 | Error: undefined response type
10:02:20.1 api info allocation_id=a-1 | GET /v1/allocations/a-1 200 4112 18ms user-agent=ctl/0.14.0
10:02:20.2 cli error layer=client allocation_id=a-1 | Error: undefined response type
10:03:00 api info allocation_id=a-2 | GET /v1/allocations/a-2 200 4112 16ms user-agent=ctl/0.17.0
10:07:20.1 api info allocation_id=a-1 | GET /v1/allocations/a-1 200 4112 18ms user-agent=ctl/0.14.0
10:07:20.2 cli error layer=client allocation_id=a-1 | Error: undefined response type
10:09:00 api heartbeat component=api
`, "client.misreads"},
		{"a container of migrations, which is no database, after a rollback", ordered + `
09:35:00 argocd deploy.change component=airflow from=2.1.2 to=2.2.1 version=2.2.1
09:55:00 argocd deploy.change component=airflow from=2.2.1 to=2.1.2 version=2.1.2
09:56:40 airflow-db-migrations error layer=deploy | alembic.script.revision.ResolutionError: No such revision or branch 'ccde3e26fe78'
10:00:10 kubelet warn k8s.pod.name=airflow-db-migrations-6c5d8b8f7d-2xk9q | Back-off restarting failed container db-migrations in pod airflow-db-migrations-6c5d8b8f7d-2xk9q
10:02:20 airflow-db-migrations error layer=deploy | alembic.script.revision.ResolutionError: No such revision or branch 'ccde3e26fe78'
10:10:00 airflow-scheduler info layer=workflow | initContainer wait-for-db-migrations: Waiting for migrations... 60 second(s)
` + failed, "deploy.own_word"},
		{"a provider that says until when a token was good", ordered + `
10:00:13 arm info layer=provider allocation_id=a-1 | PUT managedInstances/al 202 Accepted
10:20:24 provisioner error allocation_id=a-1 | waiting for creation: StatusCode=401 Code="ExpiredAuthenticationToken" Message="The access token expiry UTC time '3/2/2026 10:00:02 AM' is earlier than current UTC time"
` + failed, "api_auth.token_expired"},
		{"a machine that upgraded itself", dispatched + `
09:50:54 apt info layer=node node_id=n-a7 | Start-Date: 2026-03-02 09:50:54 Commandline: /usr/bin/unattended-upgrade Upgrade: libnvidia-common-460:amd64 (460.56-0ubuntu0.20.04.1, 460.73.01-0ubuntu0.20.04.1)
10:00:44 kernel error node_id=n-a7 | NVRM: API mismatch: the client has the version 460.73.01, but NVRM: this kernel module has the version 460.56
10:00:50 provisioner task.state task_id=tk-1 node_id=n-a7 to=failed claim_id=c-1
` + failed, "node.own_upgrade"},
		{"a proxy that asks where the back end was before it was made anew", queued + `
09:59:20 dockerd info layer=deploy | container api recreated after host maintenance: 172.28.0.4 -> 172.28.0.6 (embedded DNS updated)
10:00:12 nginx error | 2026/03/02 10:00:12 [error] 31#31: *4512 connect() failed (113: Host is unreachable) while connecting to upstream, client: 10.20.0.17, server: node-api, request: "POST /v1/tasks/claim HTTP/1.1", upstream: "http://172.28.0.4:8000/v1/tasks/claim", host: "node-api"
10:00:12.1 node-agent error node_id=n-a7 | claim failed: 502 Bad Gateway
10:01:40 network-probe info | from the nginx host: http://172.28.0.6:8000/healthz 200; name api resolves to 172.28.0.6
10:05:12 nginx error | 2026/03/02 10:05:12 [error] 31#31: *4777 connect() failed (113: Host is unreachable) while connecting to upstream, client: 10.20.0.17, server: node-api, request: "POST /v1/tasks/claim HTTP/1.1", upstream: "http://172.28.0.4:8000/v1/tasks/claim", host: "node-api"
10:05:12.1 node-agent error node_id=n-a7 | claim failed: 502 Bad Gateway
10:09:00 api heartbeat component=api
10:10:02 provisioner task.state task_id=tk-1 node_id=n-a7 to=expired reason=not_claimed
10:10:03 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`, "ingress.stale_upstream"},
		{"a store that serves the same program in another version", inUse + `
10:00:15 cli error layer=client allocation_id=a-1 | upload failed: An error occurred (InvalidArgument) when calling the CreateMultipartUpload operation
10:00:15.1 object-store info layer=api | "POST /images-jo/rootfs.img?uploads HTTP/1.1" 400 312 x-amz-checksum-algorithm=CRC64NVME ua="aws-cli/2.23.0"
10:02:00 object-store info layer=api | "POST /images-kim/base.img?uploads HTTP/1.1" 200 312 ua="aws-cli/2.22.35"
10:04:15 cli error layer=client allocation_id=a-1 | upload failed: An error occurred (InvalidArgument) when calling the CreateMultipartUpload operation
10:04:15.1 object-store info layer=api | "POST /images-jo/rootfs.img?uploads HTTP/1.1" 400 312 x-amz-checksum-algorithm=CRC64NVME ua="aws-cli/2.23.0"
10:08:15 cli error layer=client allocation_id=a-1 | upload failed: An error occurred (InvalidArgument) when calling the CreateMultipartUpload operation
10:08:15.1 object-store info layer=api | "POST /images-jo/rootfs.img?uploads HTTP/1.1" 400 312 x-amz-checksum-algorithm=CRC64NVME ua="aws-cli/2.23.0"
10:09:00 api heartbeat component=api
`, "client.version"},
		{"a kernel that names the control group of what it killed", inUse + `
10:00:18 kernel error layer=node | Memory cgroup out of memory: Killed process 1 (bun) total-vm:81788928kB, anon-rss:4383048kB (cgroup /docker/api)
10:00:18.3 nginx error | 2026/03/02 10:00:18 [error] 31#31: *8811 upstream prematurely closed connection while reading response header from upstream, client: 10.8.0.4, server: x, request: "GET /v1/allocations HTTP/1.1", upstream: "http://10.1.4.21:8080/v1/allocations"
10:00:18.4 cli error layer=client allocation_id=a-1 http.request.method=GET url.path=/v1/allocations http.response.status_code=502 | GET /v1/allocations: 502 Bad Gateway
10:02:38 kernel error layer=node | Memory cgroup out of memory: Killed process 1 (bun) total-vm:81788928kB, anon-rss:4383048kB (cgroup /docker/api)
10:02:38.3 nginx error | 2026/03/02 10:02:38 [error] 31#31: *8899 upstream prematurely closed connection while reading response header from upstream, client: 10.8.0.4, server: x, request: "GET /v1/allocations HTTP/1.1", upstream: "http://10.1.4.21:8080/v1/allocations"
10:02:38.4 cli error layer=client allocation_id=a-1 http.request.method=GET url.path=/v1/allocations http.response.status_code=502 | GET /v1/allocations: 502 Bad Gateway
`, "api.crash"},
		{"MAAS, of its DHCP server", ordered + `
10:01:58 maas error host.name=rack-b | maas.service_monitor: [error] Service 'maas-dhcpd' failed to start. Its current state is 'off' and 'dead'.
10:02:40 bmc info node_id=n-a7 | SOL: PXE-E51: No DHCP or proxyDHCP offers were received.
10:12:41 bmc info node_id=n-a7 | SOL: PXE-E51: No DHCP or proxyDHCP offers were received.
` + failed, "provider.dhcp_down"},
		{"a switch, quietly, of its relay", ordered + `
09:57:11 tor-r22a info layer=network host.name=tor-r22a | NOTICE root: dhcp_relay: container docker-dhcp-relay exited, auto-restart limit reached
10:02:40 bmc info node_id=n-a7 | SOL: PXE-E51: No DHCP or proxyDHCP offers were received.
` + failed, "network.dhcp_down"},
		{"a file that names what is missed, and that was changed", ordered + `
09:40:12 deployer deploy.change component=ironic-conductor config=ironic.conf from=2025.2-11 to=2025.2-12
10:00:21 ironic error allocation_id=a-1 node_id=n-a7 | Error while preparing to deploy: Image 9d0c2f6e-71b0-4d0f-9a55 could not be found.: ironic.common.exception.ImageNotFound
10:00:22 ironic info allocation_id=a-1 node_id=n-a7 | deploy_ramdisk 9d0c2f6e-71b0-4d0f-9a55 taken from [conductor]deploy_ramdisk in /etc/ironic/ironic.conf
10:05:24 ironic error allocation_id=a-1 node_id=n-a7 | Error while preparing to deploy: unexpected answer on image 9d0c2f6e-71b0-4d0f-9a55
` + failed, "deploy.change"},
		{"launchd, of the agent", dispatched + `
10:00:16 node-agent error node_id=n-a7 task_id=tk-1 | thread 'main' panicked at src/keychain.rs:211:18: called unwrap on an Err value
10:00:16.4 macos-unified-log info layer=node node_id=n-a7 | launchd: [system/com.corp.farm-agent [713]:] Service exited due to SIGABRT, ran for 88112144ms
10:05:04 provisioner task.state task_id=tk-1 node_id=n-a7 to=lost claim_id=c-1 reason=lease_expired
` + failed, "node_agent.crash"},
		{"Windows, of the agent", dispatched + `
10:00:16 windows-eventlog error layer=node node_id=n-a7 | Service Control Manager 7034: The Farm Agent service terminated unexpectedly. It has done this 1 time(s).
10:05:04 provisioner task.state task_id=tk-1 node_id=n-a7 to=lost claim_id=c-1 reason=lease_expired
` + failed, "node_agent.crash"},
	} {
		if v := verdictOn(t, c.told); len(v.Faults) != 1 || v.Faults[0].Rule != c.rule {
			rule := ""
			if len(v.Faults) > 0 {
				rule = v.Faults[0].Rule
			}
			t.Errorf("%s: %s %s: %s", c.name, v.Outcome, rule, v.Explanation)
		}
	}
}

// A relay of which the broker ends each connection knows less than the broker does of why.
func TestWhoEndsAConnectionKnowsWhy(t *testing.T) {
	v := verdictOn(t, `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:00.1 api outbox.record allocation_id=a-1 outbox_id=o-1 to=pending
10:00:05 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-1 to=failed attempt_count=1 last_error="connection closed"
10:05:16 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-1 to=failed attempt_count=9 last_error="connection closed"
10:10:10 api allocation.state allocation_id=a-1 from=requested to=failed reason=pickup_deadline
10:12:00 outbox-relay heartbeat component=outbox-relay
`)
	if len(v.Faults) != 1 || v.Faults[0].Rule != "outbox.stuck" || v.Faults[0].Confidence == "high" {
		t.Errorf("%s: %+v", v.Outcome, v.Faults)
	}
}

// What fails again and again while a machine is made ready, and then is, was waited for.
func TestWhatComesToItsEndWasWaitedFor(t *testing.T) {
	told := ordered
	for _, at := range []string{"10:00:40", "10:01:10", "10:01:40", "10:02:10", "10:02:40"} {
		told += at + " capi-controller-manager error layer=workflow allocation_id=a-1 | Reconciler error: unable to retrieve the complete list of server APIs: v1: context deadline exceeded - error from a previous attempt: EOF\n"
	}
	if v := verdictOn(t, told+`
10:03:20 capi-controller-manager info layer=workflow allocation_id=a-1 | remote cluster reachable, node ready
10:04:45 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=completed
10:04:46 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
`); v.Outcome != "none" {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
}
