package correlator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// Every step has its party, its deadline and, once its time is over, a gap in the timeline.
func TestObligations(t *testing.T) {
	const begin = "10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning\n"
	later := func(clock string) string { return clock + " provisioner heartbeat component=provisioner\n" }
	f := func(name, lines, step, owes string, budget time.Duration, overdue, seen bool) {
		t.Run(name, func(t *testing.T) {
			records, err := story.Parse(begin + lines)
			if err != nil {
				t.Fatal(err)
			}
			c := correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}).Cases()[0]
			list := c.Obligations()
			if len(list) == 0 {
				t.Fatal("nothing is owed")
			}
			o := list[0]
			if o.Step != step || o.Owes != owes || o.Budget() != budget || o.Overdue(c.Now) != overdue || (c.SeenAfter(o) != nil) != seen {
				t.Errorf("%s owed by %q within %s, overdue %v, seen %v: %s", o.Step, o.Owes, o.Budget(), o.Overdue(c.Now), c.SeenAfter(o) != nil, o.What)
			}
			gap := false
			for _, e := range c.WithTimeline(correlator.Judge(c, rules.All())).Timeline {
				gap = gap || e.Kind == "gap" && strings.Contains(e.Summary, o.What)
			}
			if gap != overdue {
				t.Errorf("a gap is drawn: %v, want %v", gap, overdue)
			}
		})
	}
	queued := "10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 type=wipe to=queued\n"
	taken := queued + "10:00:05 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 claim_id=c-1 to=dispatched"
	f("a task that waits for its claim", queued+later("10:00:30"), "task.claim:wipe", "node_agent", time.Minute, false, false)
	f("a task that nobody claims", queued+later("10:09:00"), "task.claim:wipe", "node_agent", time.Minute, true, false)
	f("a task that nobody claims, and the agent is alive", queued+"10:08:00 node-agent info resource.node_id=n-1 | idle\n", "task.claim:wipe", "node_agent", time.Minute, true, true)
	f("another node's agent proves nothing", queued+"10:08:00 node-agent info resource.node_id=n-2 | idle\n", "task.claim:wipe", "node_agent", time.Minute, true, false)
	f("a claim with a lease", taken+" lease_until=2026-03-02T10:03:05Z\n"+later("10:02:00"), "task.run:wipe", "node_agent", 3*time.Minute, false, false)
	f("a record that is not published", "10:00:01 provisioner outbox.record allocation_id=a-1 outbox_id=o-1 to=pending\n"+later("10:04:00"), "outbox.publish", "outbox", time.Minute, true, false)
	f("a provider's job", "10:00:01 operator provider_job.state allocation_id=a-1 provider_job=aap/x/job/1 operation=provision to=Running\n"+later("10:04:00"), "job:provision", "provider", 15*time.Minute, false, false)
	f("a job whose end was asked for", "10:00:01 operator provider_job.state allocation_id=a-1 provider_job=aap/x/job/1 operation=provision to=Running\n10:01:00 api audit.action allocation_id=a-1 actor=jo actor_type=user action=cancel\n10:04:00 aap heartbeat component=aap\n", "job.cancel", "provider", 2*time.Minute, true, true)
	f("a job that succeeded leaves the move to its controller", "10:00:01 operator provider_job.state allocation_id=a-1 provider_job=aap/x/job/1 operation=provision to=Succeeded\n"+later("10:30:00"), "state:provisioning", "workflow", 15*time.Minute, true, true)
}

// Where a platform's own history says what a step takes, that decides: a step that has always taken seconds is
// late after a minute, one that has always taken an hour is not late after twenty.
func TestLearntDurations(t *testing.T) {
	at := func(d time.Duration) string { return story.Day.Add(d).Format("15:04:05") }
	platform := func(takes, open time.Duration) correlator.Verdict {
		var b strings.Builder
		for i := range 40 {
			begin := time.Duration(i) * time.Minute
			fmt.Fprintf(&b, "%s operator allocation.state allocation_id=b-%d from=reserved to=provisioning\n", at(begin), i)
			fmt.Fprintf(&b, "%s operator allocation.state allocation_id=b-%d from=provisioning to=active\n", at(begin+takes), i)
		}
		fmt.Fprintf(&b, "%s operator allocation.state allocation_id=a-1 from=reserved to=provisioning\n", at(10*time.Hour))
		fmt.Fprintf(&b, "%s operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running\n", at(10*time.Hour))
		fmt.Fprintf(&b, "%s operator heartbeat component=operator\n", at(10*time.Hour+open))
		records, err := story.Parse(b.String())
		if err != nil {
			t.Fatal(err)
		}
		return query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Verdict
	}
	if v := platform(time.Hour, 20*time.Minute); v.Outcome != correlator.None {
		t.Errorf("slow as ever, and blamed: %s", show(v))
	}
	if v := platform(20*time.Second, 5*time.Minute); v.Outcome != correlator.Attributed || v.Faults[0].Layer != "workflow" {
		t.Errorf("fifteen times as long as ever, and fine: %s", show(v))
	}
	// Few cases teach nothing.
	var few correlator.Learnt
	few.Add("state:provisioning", time.Second)
	if _, n := few.P99("state:provisioning"); n != 1 {
		t.Errorf("%d known", n)
	}
	var many correlator.Learnt
	for i := range 200 {
		many.Add("job", time.Duration(i+1)*time.Second)
	}
	if took, n := many.P99("job"); took != 198*time.Second || n != 200 {
		t.Errorf("p99 of 1 … 200 s: %s of %d", took, n)
	}
}
