package correlator_test

import (
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// A controller that moves others while it owes a move here is alive: what it did for them is cited and stands on the
// timeline, as nobody's record would. Without a word of it since, nobody can tell.
func TestWhatALayerDoesForOthersShowsThatItIsAlive(t *testing.T) {
	const stuck = `
10:00:00 operator allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:00 operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:40:00 fulfillment-api info resource.allocation_id=a-1 | GET /v1/allocations/a-1 200
`
	for _, c := range []struct{ name, others, want string }{
		{"nothing since", "", correlator.Undetermined},
		{"others before the deadline", "10:01:00 operator allocation.state allocation_id=a-2 to=requested\n", correlator.Undetermined},
		{"others since", "10:30:00 operator allocation.state allocation_id=a-2 to=requested\n", correlator.Attributed},
		{"another layer since", "10:30:00 fulfillment-api info allocation_id=a-2 | POST /v1/allocations 201\n", correlator.Undetermined},
	} {
		records, err := story.Parse(stuck + c.others)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations {
			if a.ID != "a-1" {
				continue
			}
			if a.Verdict.Outcome != c.want {
				t.Errorf("%s: %s: %s", c.name, a.Verdict.Outcome, a.Verdict.Explanation)
			}
			shown := map[string]bool{}
			for _, e := range a.Timeline {
				shown[e.Ref] = true
			}
			for _, f := range a.Verdict.Faults {
				for _, ref := range f.Evidence {
					if !shown[ref] {
						t.Errorf("%s: %s is cited and not shown", c.name, ref)
					}
				}
			}
		}
	}
}
