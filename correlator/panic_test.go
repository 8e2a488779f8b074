package correlator_test

import (
	"slices"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// A rule that panics is left out, found once and named; the others give the verdict that they gave before.
func TestARuleThatPanics(t *testing.T) {
	records, err := story.Parse(`
10:00:00 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 type=wipe claim_id=c-1 to=dispatched
10:00:09 node-agent error resource.node_id=n-1 task_id=k-1 | wipe: write /x: no space left on device
10:00:10 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 claim_id=c-1 to=failed
10:01:00 provisioner task.state allocation_id=a-1 task_id=k-2 node_id=n-1 type=wipe claim_id=c-2 to=dispatched
10:01:10 provisioner task.state allocation_id=a-1 task_id=k-2 node_id=n-1 claim_id=c-2 to=failed
`)
	if err != nil {
		t.Fatal(err)
	}
	bad := correlator.Rule{ID: "node.broken", Layer: "node", Mechanism: "broken", Looks: "nothing", NextCheck: "none", Find: func(*correlator.Case, *correlator.Trouble) []correlator.Evidence { panic("index out of range") }}
	list := append([]correlator.Rule{bad}, rules.All()...)
	v := query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), list).Allocations[0].Verdict
	if v.Outcome != correlator.Attributed || v.Faults[0].Rule != "node.disk_full" {
		t.Errorf("the other rules did not go on: %s", show(v))
	}
	found := slices.DeleteFunc(slices.Clone(v.Findings), func(f correlator.Finding) bool { return f.Kind != "rule_disabled" })
	if len(found) != 1 || found[0].Rule != bad.ID {
		t.Errorf("found %+v, want %s once", found, bad.ID)
	}
}
