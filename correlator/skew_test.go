package correlator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

const pairsOfClocks = `
def a allocation_id=a-1
10:00:00    provisioner allocation.state @a from=reserved to=provisioning
10:00:00.1  provisioner span 2s name=launch kind=client @a trace_id=t1 span_id=s1
10:00:00.3  fulfillment-api span 1s name=create kind=server @a trace_id=t1 span_id=s2 parent_span_id=s1
10:00:01    api outbox.record @a outbox_id=o-1 to=pending
10:00:01.2  outbox-relay outbox.record @a outbox_id=o-1 to=published
10:00:02    provisioner task.state @a task_id=k-1 node_id=n-1 type=wipe to=queued
10:00:03    node-agent task.state @a task_id=k-1 node_id=n-1 node_instance_id=i-1 claim_id=c-1 to=dispatched
10:00:04    node-agent info @a resource.node_id=n-1 node_instance_id=i-1 | wiping
10:00:09    provisioner task.state @a task_id=k-1 node_id=n-1 claim_id=c-1 to=succeeded
10:00:10    provisioner allocation.state @a from=provisioning to=active
`

// shifted gives the story with one source's clock wrong; its records are seen when they were seen before.
func shifted(t *testing.T, service string, by time.Duration) []*record.Record {
	t.Helper()
	records, err := story.Parse(pairsOfClocks)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Service == service {
			r.Time += int64(by)
			if r.End != 0 {
				r.End += int64(by)
			}
		}
	}
	return records
}

// A clock that causes and effects prove wrong is named with its direction; the order stays causal, the stamped
// times stay stamped, and the verdict is the same.
func TestClockSkew(t *testing.T) {
	f := func(service string, by time.Duration, says ...string) {
		t.Run(service+" "+by.String(), func(t *testing.T) {
			records := shifted(t, service, by)
			a := analyze(t, records).Allocations[0]
			var got []string
			for _, finding := range a.Verdict.Findings {
				if finding.Kind == "clock_skew" {
					got = append(got, finding.Summary)
				}
			}
			for _, words := range says {
				if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, words) }) {
					t.Errorf("%q is not said: %q", words, got)
				}
			}
			if len(says) == 0 && len(got) > 0 {
				t.Errorf("a clock that is right is accused: %q", got)
			}
			if a.Verdict.Outcome != correlator.None {
				t.Errorf("a wrong clock made a fault: %s", show(a.Verdict))
			}
			at := func(name, to string) int {
				return slices.IndexFunc(a.Timeline, func(e correlator.Entry) bool { return e.Name == name && strings.Contains(e.Summary, to) })
			}
			if q, d, s := at("task.state", "queued"), at("task.state", "dispatched"), at("task.state", "succeeded"); q > d || d > s {
				t.Errorf("queued at %d, claimed at %d, done at %d", q, d, s)
			}
			if p, o := at("outbox.record", "pending"), at("outbox.record", "published"); p > o {
				t.Errorf("published at %d, pending at %d", o, p)
			}
			for _, r := range records {
				if !slices.ContainsFunc(a.Timeline, func(e correlator.Entry) bool { return int64(e.Time) == r.Time && e.Source == r.Service }) {
					t.Errorf("the stamped time of a record of %s is lost", r.Service)
				}
			}
		})
	}
	f("nobody", 0)
	f("node-agent", -20*time.Second, "the clock of node-agent on i-1 is at least 19s behind provisioner")
	f("node-agent", 20*time.Second, "the clock of node-agent on i-1 is at least 19.995s ahead of its collector")
	f("outbox-relay", -30*time.Second, "the clock of outbox-relay is at least 29.8s behind api")
	f("fulfillment-api", -5*time.Second, "the clock of fulfillment-api is at least 4.8s behind provisioner")
	f("fulfillment-api", 5*time.Second, "the clock of fulfillment-api is at least", "ahead")
	f("node-agent", -200*time.Millisecond)
}
