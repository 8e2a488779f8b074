package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

const stands = `
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01.5 provisioner node.assigned node_id=n-1 allocation_id=a-1
SAID
10:12:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:12:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
10:13:00 provisioner heartbeat component=provisioner
`

// What two rules find on many lines is surer than what one finds on one.
func TestConfidenceFollowsTheSupport(t *testing.T) {
	const (
		one  = "10:00:05 maas error allocation_id=a-1 layer=provider | regiond: quota exceeded for pool gpu"
		many = one + `
10:02:05 maas error allocation_id=a-1 layer=provider | regiond: quota exceeded for pool gpu, retry 1
10:04:05 maas error allocation_id=a-1 layer=provider | regiond: cannot place machine: no capacity left in pool gpu
10:06:05 maas error allocation_id=a-1 layer=provider | regiond: quota exceeded for pool gpu, retry 2
10:08:05 maas error allocation_id=a-1 layer=provider | regiond: cannot place machine: no capacity left in pool gpu, giving up`
	)
	rank := map[string]int{correlator.High: 3, correlator.Medium: 2, correlator.Low: 1}
	once, often := verdictOn(t, strings.Replace(stands, "SAID", one, 1)), verdictOn(t, strings.Replace(stands, "SAID", many, 1))
	if len(once.Faults) != 1 || len(often.Faults) != 1 || once.Faults[0].Layer != "provider" || often.Faults[0].Layer != "provider" {
		t.Fatalf("%s; %s", once.Explanation, often.Explanation)
	}
	if a, b := once.Faults[0].Confidence, often.Faults[0].Confidence; rank[a] >= rank[b] {
		t.Errorf("by one rule on one line %s, by two on five %s", a, b)
	}
}

// A warning that names no cause, made once by somebody who did not owe the step, blames nobody; said again and again, or as an error, it does.
func TestARemarkIsNoProof(t *testing.T) {
	for _, c := range []struct {
		name, said string
		blamed     bool
	}{
		{"a machine that is warm", "10:03:00 kernel warn allocation_id=a-1 node_id=n-1 | CPU12: Core temperature above threshold, cpu clock throttled (total events = 3)", false},
		{"a machine that is warm all the time", `10:03:00 kernel warn allocation_id=a-1 node_id=n-1 | CPU12: Core temperature above threshold, cpu clock throttled (total events = 3)
10:05:00 kernel warn allocation_id=a-1 node_id=n-1 | CPU12: Core temperature above threshold, cpu clock throttled (total events = 300)
10:08:00 kernel warn allocation_id=a-1 node_id=n-1 | CPU12: Core temperature above threshold, cpu clock throttled (total events = 9000)`, true},
		{"a database that paused once, in words that two tables know", "10:03:00 mariadb warn | 0 [Warning] WSREP: flow control paused for 0.4s (galera3)", false},
		{"a driver's error that costs nothing", "10:03:00 kernel error node_id=n-1 | [    7.118201] qedf 0000:04:00.0: mailbox command 0x3f failed: invalid state -5", false},
		{"a broker's alarm, which lasts", "10:00:03 rabbitmq warn layer=outbox | disk resource limit alarm set on node 'rabbit@mq-1'. Publishers will be blocked until this alarm clears", true},
		{"what a caller says of whom he called", "10:03:00 cli error allocation_id=a-1 | create: no capacity", false},
	} {
		v := verdictOn(t, strings.Replace(stands, "SAID", c.said, 1))
		blamed := len(v.Faults) > 0 && v.Faults[0].Layer != "workflow"
		if blamed != c.blamed {
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
		if !blamed && len(v.Faults) == 0 && v.Outcome == correlator.Undetermined && len(v.Candidates) < 2 {
			t.Errorf("%s: who is spoken against is no candidate: %v", c.name, v.Candidates)
		}
	}
}
