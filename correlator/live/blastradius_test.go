package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// Those judged first are judged again among those that were hit later: in the end nobody's agent is blamed for
// what three nodes share.
func TestAssessmentsFollowTheBlastRadius(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	for i := range 3 {
		var b strings.Builder
		fmt.Fprintf(&b, "10:00:00 provisioner allocation.state allocation_id=a-%d to=requested\n", i)
		fmt.Fprintf(&b, "10:00:00 provisioner allocation.state allocation_id=a-%d from=reserved to=provisioning\n", i)
		fmt.Fprintf(&b, "09:59:00 node-agent info resource.node_id=n-%d | polling\n", i)
		fmt.Fprintf(&b, "10:00:01 provisioner task.state allocation_id=a-%d task_id=k-%d node_id=n-%d type=wipe to=queued\n", i, i, i)
		fmt.Fprintf(&b, "10:00:30 kernel info resource.node_id=n-%d | eth0: link is up\n", i)
		fmt.Fprintf(&b, "10:02:00 provisioner task.state allocation_id=a-%d task_id=k-%d node_id=n-%d type=wipe to=lost\n", i, i, i)
		st.take(g.clock, parse(t, b.String())...)
		g.settle(t)
		if i == 0 {
			if v := lastOf(t, st, "a-0"); v.Outcome != correlator.Attributed || v.Faults[0].Layer != "node_agent" {
				t.Fatalf("alone: %s: %s", v.Outcome, v.Explanation)
			}
		}
	}
	g.clock = g.clock.Add(g.cfg.Sweep)
	g.settle(t)
	for i := range 3 {
		if v := lastOf(t, st, fmt.Sprintf("a-%d", i)); v.Outcome != correlator.Undetermined {
			t.Errorf("a-%d: %s: %s", i, v.Outcome, v.Explanation)
		}
	}
}

func lastOf(t *testing.T, st *store, id string) correlator.Verdict {
	t.Helper()
	said, err := st.Last(t.Context(), []string{id})
	if err != nil {
		t.Fatal(err)
	}
	return said[id].Assessment.Verdict
}
