package correlator_test

import (
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// A workflow ends without what it waited for. Whether two parties contradict each other about one thing, and whether anything decides between them, is in the
// lines between.
func TestTwoPartiesContradictEachOther(t *testing.T) {
	const before = `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01.1 provisioner node.assigned node_id=n-1 allocation_id=a-1
10:00:01.2 provisioner allocation.state allocation_id=a-1 from=requested to=reserved
10:00:01.3 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
`
	const after = `
10:40:02 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:40:03 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
10:41:00 api heartbeat component=api
10:41:00 provisioner heartbeat component=provisioner
`
	for _, c := range []struct {
		name, told string
		outcome    string
	}{
		{"sent, and nothing came", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice built-7731 handed to the provisioner at 10.0.0.4
10:40:01 provisioner error allocation_id=a-1 | gave up: notice built-7731 has not arrived here
`, correlator.Contested},
		{"answered, and no answer", `
10:09:20 foreman info layer=provider allocation_id=a-1 | question q-4471 answered: rack 4
10:40:01 provisioner error allocation_id=a-1 | gave up: q-4471 had no reply
`, correlator.Contested},
		{"in other languages", `
10:09:20 foreman info layer=provider allocation_id=a-1 | Auftrag 88213 gesendet
10:40:01 provisioner error allocation_id=a-1 | el pedido 88213 nunca ha llegado
`, correlator.Contested},
		{"held, and not held", `
10:09:20 foreman info layer=provider allocation_id=a-1 | lease l-5521 granted to the provisioner
10:40:01 provisioner error allocation_id=a-1 | gave up: we hold no lease l-5521
`, correlator.Contested},
		{"stored, and unknown", `
10:09:20 foreman info layer=provider allocation_id=a-1 | booking b-90 stored
10:40:01 provisioner error allocation_id=a-1 | gave up: foreman tells of unknown booking b-90
`, correlator.Contested},
		{"each tells that the other one ended it", `
10:39:59 foreman error layer=provider allocation_id=a-1 | session s-771: the caller hung up on us
10:40:01 provisioner error allocation_id=a-1 | session s-771: far end closed it
`, correlator.Contested},
		{"packets counted at both ends of a machine's way", `
10:20:00 mgmt-sw-1 error layer=network | capture on the port of n-1: 6 SYN transmitted, no answer
10:24:00 bmc error layer=provider node_id=n-1 | eth0: link up, TCP SYN received: 0
`, correlator.Contested},
		{"he who denies it had thrown it away", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice built-7731 handed to the provisioner at 10.0.0.4
10:09:20.1 provisioner debug allocation_id=a-1 | notice built-7731: nobody waits for it, dropped
10:40:01 provisioner error allocation_id=a-1 | gave up: notice built-7731 has not arrived here
`, correlator.Attributed},
		{"he who denies it had thrown it away, and calls it by words alone", `
10:09:20.1 provisioner info allocation_id=a-1 | signal deployed: nobody waits, dropped
10:40:01 provisioner error allocation_id=a-1 | signal deployed not received in 30m
`, correlator.Attributed},
		{"of another thing", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice built-7731 handed to the provisioner at 10.0.0.4
10:40:01 provisioner error allocation_id=a-1 | gave up: notice built-7732 has not arrived here
`, correlator.Undetermined},
		{"of the allocation alone, of which everybody speaks", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice on a-1 handed to the provisioner
10:40:01 provisioner error allocation_id=a-1 | gave up: notice on a-1 has not arrived here
`, correlator.Undetermined},
		{"what is still to come is not told of", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice built-7731 waits to be sent
10:40:01 provisioner error allocation_id=a-1 | gave up: notice built-7731 has not arrived here
`, correlator.Undetermined},
		{"who got something and who did not may be at one end", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice built-7731 received
10:40:01 provisioner error allocation_id=a-1 | gave up: notice built-7731 has not arrived here
`, correlator.Undetermined},
		{"a chain: handed on, and nothing came back from the next", `
10:09:20 provisioner info allocation_id=a-1 | notice built-7731 handed to foreman
10:39:01 foreman error layer=provider allocation_id=a-1 | notice built-7731: nothing came back from the rack
`, correlator.Undetermined},
		{"one of the two tells of himself", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice built-7731 handed to the provisioner at 10.0.0.4
10:10:20 foreman error layer=provider allocation_id=a-1 | panic: runtime error: index out of range [3] with length 3
10:40:01 provisioner error allocation_id=a-1 | gave up: notice built-7731 has not arrived here
`, correlator.Attributed},
		{"a third one tells of himself", `
10:09:20 foreman info layer=provider allocation_id=a-1 | notice built-7731 handed to the provisioner at 10.0.0.4
10:10:20 postgres error allocation_id=a-1 | FATAL:  could not write to file "pg_wal/xlogtemp.31": No space left on device
10:40:01 provisioner error allocation_id=a-1 | gave up: notice built-7731 has not arrived here
`, correlator.Attributed},
	} {
		if v := verdictOn(t, before+c.told+after); v.Outcome != c.outcome {
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
