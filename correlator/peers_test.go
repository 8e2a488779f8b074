package correlator_test

import (
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/story"
)

// Layers that call each other as peers: who was waited for, who could not be reached, who stumbled over what
// somebody else left behind. The lines are ours, the wordings those of the programs.
func TestPeersThatWaitForEachOther(t *testing.T) {
	p, err := profile.Load("openstack")
	if err != nil {
		t.Fatal(err)
	}
	const (
		req  = "req-6f1c2f0e-4b0c-4b61-9a86-0d5c7a1f3e21"
		vm   = "0c6f7ad2-51c2-4a33-8a53-1f0f4be0c001"
		asks = "09:00:00 client info allocation_id=a-1 | server create: " + req + " instance " + vm + "\n"
		sees = "09:06:00 client error allocation_id=a-1 | server create: instance " + vm + " went to ERROR\n"
	)
	f := func(name, lines, outcome, rule string) {
		t.Run(name, func(t *testing.T) {
			records, err := story.Parse(asks + lines + sees)
			if err != nil {
				t.Fatal(err)
			}
			v := query.Analyze(correlator.NewDataset(records, nil, p, correlator.AsOf{}), rules.All()).Allocations[0].Verdict
			got := ""
			if len(v.Faults) > 0 {
				got = v.Faults[0].Rule
			}
			if v.Outcome != outcome || got != rule {
				t.Errorf("%s by %q, want %s by %q: %s", v.Outcome, got, outcome, rule, show(v))
			}
		})
	}
	f("the network service never says that the port is up", `
09:00:01 nova-compute info | [`+req+` u p - - -] [instance: `+vm+`] building
09:05:01 nova-compute warn | [`+req+` u p - - -] [instance: `+vm+`] Timeout waiting for vif plugging callback for instance `+vm+`
09:05:02 nova-compute error | [`+req+` u p - - -] [instance: `+vm+`] Instance failed to spawn: VirtualInterfaceCreateException: Virtual Interface creation failed
`, correlator.Attributed, "neutron.vif_plugging")
	f("a port that cannot be bound", `
09:00:03 neutron-server error | [`+req+` u p - - -] Failed to bind port 7d5c0a61-0001-4d10-8c55-0f0f4be0c0aa on host c-7 for vnic_type normal
09:00:04 nova-compute error | [`+req+` u p - - -] [instance: `+vm+`] Instance failed network setup: PortBindingFailed: Binding failed for port 7d5c0a61-0001-4d10-8c55-0f0f4be0c0aa
`, correlator.Attributed, "neutron.port_binding")
	f("no agent to give addresses", `
09:00:03 neutron-server warn | [`+req+` u p - - -] Unable to schedule network 33aa0a61-0001-4d10-8c55-0f0f4be0c0aa: no agents available; will retry
`, correlator.Attributed, "neutron.agent_dead")
	f("a service that does not listen", `
09:00:03 nova-compute error | [`+req+` u p - - -] [instance: `+vm+`] Build of instance aborted: Unable to establish connection to http://10.1.2.3:8776/v3/volumes: ConnectFailure
`, correlator.Attributed, "cinder.unreachable")
	f("a layer that raises its own exception", `
09:00:03 cinder-scheduler error | [`+req+` u p - - -] volume for `+vm+`: KeyError: 'capabilities'
09:00:05 nova-compute error | [`+req+` u p - - -] [instance: `+vm+`] Build of instance aborted: volume is in error
`, correlator.Attributed, "cinder.first")
	f("a guest that was left over", `
09:00:03 nova-compute error | [`+req+` u p - - -] [instance: `+vm+`] operation failed: domain 'instance-0000001a' already exists with uuid 77777777-4b0c-4b61-9a86-0d5c7a1f3e21
`, correlator.Undetermined, "")
	f("a callee that answered all the time", `
09:00:03 nova-compute error | [`+req+` u p - - -] [instance: `+vm+`] Instance failed to spawn: TypeError: unsupported operand
09:00:04 neutron-server info | [`+req+` u p - - -] 10.1.2.3 "GET /v2.0/ports HTTP/1.1" status: 200
`, correlator.Attributed, "nova.first")
}
