package correlator_test

import (
	"fmt"
	"strings"
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

// Who told of a step's beginning would tell of its end: where it spoke all the time and does so no more, what it does not tell of is nobody's fault.
// Where it makes such pauses as a rule, it has not gone quiet.
func TestWhoWouldTellOfTheEndHasGoneQuiet(t *testing.T) {
	const begun = `
10:00:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:01 provisioner task.state allocation_id=a-1 workflow_id=w-1 task_id=t-1 node_id=n-1 to=queued
10:00:02 provisioner task.state allocation_id=a-1 workflow_id=w-1 task_id=t-1 node_id=n-1 to=dispatched
10:59:30 node-agent heartbeat component=node-agent node_id=n-1
11:00:00 node-agent heartbeat component=node-agent node_id=n-1
`
	speaks := func(last, every int) (text string) {
		for at := 0; at <= last; at += every {
			text += fmt.Sprintf("10:%02d:%02d provisioner info allocation_id=a-2 | step place\n", at/60, at%60)
		}
		return text
	}
	without := func(text, minute string) (out string) { // what was said in a minute never arrives
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, minute) {
				out += line
			}
		}
		return out
	}
	for _, c := range []struct{ name, others, want string }{
		{"spoke until now", speaks(3598, 2), correlator.Attributed},
		{"spoke all the time but for a minute", without(speaks(3598, 2), "10:54:"), correlator.Undetermined},
		{"makes such pauses as a rule", speaks(3598, 60), correlator.Attributed},
		{"spoke all the time until twenty seconds ago", speaks(3580, 2), correlator.Undetermined},
		{"speaks every fifteen seconds", speaks(3580, 15), correlator.Attributed},
		{"spoke a few times", speaks(3580, 300), correlator.Attributed},
	} {
		records, err := story.Parse(begun + c.others)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations {
			if a.ID == "a-1" && a.Verdict.Outcome != c.want {
				t.Errorf("%s: %s: %s", c.name, a.Verdict.Outcome, a.Verdict.Explanation)
			}
		}
	}
}
