package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// A call that timed out is lost packets to who made it. What stands in the log of whom it went to, as failed there, has arrived; what does not, has not.
func TestACallIsOnRecordWhereItWent(t *testing.T) {
	const told = `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=running
10:00:01.5 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
10:00:50 bmc-gateway warn allocation_id=a-1 | get /api/hosts/hv3/volumes/vg-fast status 596 after 30.02 s
10:00:50.2 provisioner error allocation_id=a-1 | 596 connection timed out on get /hosts/hv3/volumes/vg-fast
10:05:00 bmc-gateway info | get /api/hosts/hv3/power status 200 after 0.04 s
10:07:00 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=failed
10:07:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=error
10:09:00 bmc-gateway heartbeat component=bmc-gateway
10:09:01 provisioner heartbeat component=provisioner
`
	for _, c := range []struct{ name, told, owner string }{
		{"it arrived", told, semconv.LayerProvider},
		{"another call arrived", strings.Replace(told, "/volumes/vg-fast status", "/power status", 1), semconv.LayerNetwork},
		{"another call of the same arrived, minutes before", strings.Replace(told, "10:00:50 bmc", "10:00:05 bmc", 1), semconv.LayerNetwork},
	} {
		if v := verdictOn(t, c.told); v.Outcome != correlator.Attributed || v.Faults[0].Layer != c.owner {
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}

// A capture tells what two ends sent each other, and a server repeats that a machine declined an address: neither speaks of the network, but where something was
// lost on the way.
func TestACaptureSpeaksOfThoseWhoTalk(t *testing.T) {
	const told = `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=running
10:00:02 provisioner node.assigned allocation_id=a-1 node_id=n-17
10:00:03 provisioner allocation.state allocation_id=a-1 from=requested to=provisioning
10:00:25 network-probe warn node_id=n-17 layer=network | SAID
10:06:45 network-probe warn node_id=n-17 layer=network | SAID
10:20:00 provisioner workflow.state allocation_id=a-1 workflow_id=wf-1 operation=provision to=failed
10:20:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=error
10:22:00 provisioner heartbeat component=provisioner
`
	for said, network := range map[string]bool{
		"capture: n-17's boot rom uses 10.20.5.83 from the offer of another machine, and ignores its own": false,
		"arp: 10.20.5.83 at two machines; link clean, 0 crc":                                              false,
		"dhcpd: abandoning ip address 10.0.0.226: declined.":                                              false,
		"capture: every second frame of n-17 is lost between port 3 and port 4":                           true,
	} {
		v := verdictOn(t, strings.ReplaceAll(told, "SAID", said))
		if blamed := len(v.Faults) > 0 && v.Faults[0].Layer == semconv.LayerNetwork; blamed != network {
			t.Errorf("%q: %s: %s", said, v.Outcome, v.Explanation)
		}
	}
}
