package correlator_test

import "testing"

// Who says no below an error, names a version, tells of himself twice, or of nobody at all.
func TestQuietNo(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		// A driver that nobody knows declines the same order twice, and waits for nobody.
		{"turned down at INFO", ordered + `
10:00:05 rackhand info layer=provider allocation_id=a-1 | chassis c14 declined mount of installer-9.iso: slot 1 in use by session 0x1f
10:20:05 rackhand info layer=provider allocation_id=a-1 | chassis c14 declined mount of installer-9.iso: slot 1 in use by session 0x1f
` + failed, "provider.turns_down"},
		// Once may be anything.
		{"turned down once", ordered + `
10:00:05 rackhand info layer=provider allocation_id=a-1 | chassis c14 declined mount of installer-9.iso: slot 1 in use by session 0x1f
` + failed, ""},
		// A broker's own line names the map that was rolled out, and its version.
		{"a version by name", `
09:50:00 argocd deploy.change component=capacity-broker config=site-map from=r117 to=r118
` + ordered + `
10:00:05 capacity-broker info layer=workflow allocation_id=a-1 | quote withheld: zone fra-2 unknown to site map rev 118
` + failed + `
10:41:00 argocd deploy.change component=capacity-broker config=site-map from=r118 to=r119
`, "deploy.change"},
		// It names another version.
		{"another version", `
09:50:00 argocd deploy.change component=capacity-broker config=site-map from=r117 to=r118
` + ordered + `
10:00:05 capacity-broker info layer=workflow allocation_id=a-1 | quote withheld: zone fra-2 unknown to site map rev 116
` + failed, ""},
		// The provider tells of its trouble at both tries, in words that nobody knows; the machine and the way say nothing.
		{"a provider that insists", ordered + `
10:00:44 foreman error layer=provider allocation_id=a-1 | Failed to enable n-a7 for installation: ["Conflict DHCP records cn019-old/10.32.4.77 already exists"]
10:05:44 foreman error layer=provider allocation_id=a-1 | Failed to enable n-a7 for installation: ["Conflict DHCP records cn019-old/10.32.4.77 already exists"]
` + failed, "provider.own_word"},
		// The webhook took the order, and of that provider nothing is ever heard, though another one lives.
		{"a job that cannot be asked for", ordered + `
10:00:03 operator provider_job.state allocation_id=a-1 provider=eda provider_job=eda/x/webhook/eda-webhook/a-1 operation=provision to=Running
10:00:33 operator provider_job.state allocation_id=a-1 provider=eda provider_job=eda/x/webhook/eda-webhook/a-1 operation=provision to=Unknown
10:10:00 kubevirt info | 212 VMs running, 0 starting
10:20:00 operator info allocation_id=a-1 | phase stays Progressing
10:30:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=timed_out
10:30:02 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
10:31:00 kubevirt heartbeat component=kubevirt
10:31:01 operator heartbeat component=operator
`, ""},
		// All of a pool are handed out, by the word of who hands them out.
		{"all handed out", ordered + `
10:02:20 aap info allocation_id=a-1 | TASK [make root volume] ok=false: "pool hdd says no: 400 of 400 volumes handed out"
` + failed, "provider.full"},
		// A guest's drive has the room that its host has.
		{"a guest's drive", ordered + `
10:04:11 libvirt-qemu error layer=provider node_id=n-a7 | block I/O error in device 'drive-virtio-disk0': No space left on device (28)
10:04:12 libvirt-qemu error layer=provider node_id=n-a7 | block I/O error in device 'drive-virtio-disk0': No space left on device (28)
` + failed, "provider.disk_full"},
		// The machine finds no root, since its boot server had no image for it.
		{"no image, no root", ordered + `
10:00:30 maas error node_id=n-a7 | Marking node failed - Missing boot image custom/amd64/ga-22.04/debian-12.
10:00:52 console fatal layer=node node_id=n-a7 | Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)
` + failed, "provider.upload"},
		// The API tells at INFO why it refused what one caller sent.
		{"a form that is refused at INFO", inUse + `
10:00:00.2 api info allocation_id=a-1 | 422 PATCH /v1/allocations/a-1/shape: disk_gib must be an integer, got string "200GB"
10:00:00.3 order-robot span 24ms error layer=client allocation_id=a-1 name="PATCH /v1/allocations/{id}/shape" http.response.status_code=422
10:10:01.2 api info allocation_id=a-1 | 422 PATCH /v1/allocations/a-1/shape: disk_gib must be an integer, got string "200GB"
10:10:01.3 order-robot span 22ms error layer=client allocation_id=a-1 name="PATCH /v1/allocations/{id}/shape" http.response.status_code=422
10:20:01.2 api info allocation_id=a-1 | 422 PATCH /v1/allocations/a-1/shape: disk_gib must be an integer, got string "200GB"
10:20:01.3 order-robot span 23ms error layer=client allocation_id=a-1 name="PATCH /v1/allocations/{id}/shape" http.response.status_code=422
`, "client.malformed"},
		// The user's program fails at a mistake of its own, before anybody hears of its request.
		{"a program's own mistake", inUse + `
10:00:02 cli info allocation_id=a-1 | release a-1 --yes
10:00:02.4 cli error allocation_id=a-1 | Traceback (most recent call last): File "release.py", line 88, in run: KeyError: 'tenant_slug'
10:00:02.5 cli span 31ms error allocation_id=a-1 name="ctl release"
10:04:31.4 cli error allocation_id=a-1 | Traceback (most recent call last): File "release.py", line 88, in run: KeyError: 'tenant_slug'
10:04:31.5 cli span 30ms error allocation_id=a-1 name="ctl release"
10:10:00 api heartbeat component=api
10:20:00 api heartbeat component=api
`, "client.fails_itself"},
		// It was answered, and could not read the answer.
		{"a mistake at an answer", inUse + `
10:00:02 cli info allocation_id=a-1 | release a-1 --yes
10:00:02.3 api info allocation_id=a-1 | DELETE /v1/allocations/a-1 200 12ms
10:00:02.4 cli error allocation_id=a-1 | Traceback (most recent call last): File "release.py", line 88, in run: KeyError: 'status'
10:00:02.5 cli span 31ms error allocation_id=a-1 name="ctl release"
10:10:00 api heartbeat component=api
`, ""},
		// Kerberos, by both sides.
		{"a password that is over", ordered + `
10:06:10 ipa warn layer=api_auth | krb5kdc[1822](info): AS_REQ 10.20.0.9: CLIENT KEY EXPIRED: svc-enroll@RC.EXAMPLE for krbtgt/RC.EXAMPLE
10:06:10.2 provisioner error allocation_id=a-1 | kinit: Password has expired while getting initial credentials (principal svc-enroll@RC.EXAMPLE)
` + failed, "api_auth.credential"},
		// Proxmox VE's lock of its cluster.
		{"a lock of the cluster", ordered + `
10:03:15 pvedaemon error layer=provider allocation_id=a-1 | end task UPID:pve-4:001A2C11:qmclone: clone failed: cfs-lock 'storage-nas-vm' error: got lock request timeout
` + failed, "provider.locked"},
		// Hyper-V's host has no memory left for the guest.
		{"a host without memory", ordered + `
10:01:48 hyperv-vmms error layer=provider allocation_id=a-1 host.name=HV-07 | Event ID 3122: 'gs-14' could not initialize memory: There is not enough memory in the system to start the virtual machine. (0x8007000E)
` + failed, "provider.capacity"},
		// The API tells whom it lost, not what is wrong with itself.
		{"an agent that was lost", dispatched + `
10:20:30 api error allocation_id=a-1 | Exited with status -1 (agent lost)
10:20:31 api task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=lost
` + failed, ""},
	} {
		switch v := verdictOn(t, c.told); {
		case c.rule == "" && v.Outcome == "undetermined":
		case len(v.Faults) != 1 || v.Faults[0].Rule != c.rule:
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
