package correlator_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// Whatever lifecycles say, however contradictory, cyclic or impossible: there is an answer, it is the same in
// the other order, and no span is lost or shown twice.
func TestImpossibleLifecycles(t *testing.T) {
	names := []string{"allocation.state", "task.state", "workflow.state", "provider_job.state", "outbox.record", "node.assigned", "node.unassigned", "node.instance", "node.occupancy", "projection.observed", "audit.action", "heartbeat"}
	states := []string{"requested", "provisioning", "active", "canceling", "failed", "releasing", "release_failed", "released", "queued", "dispatched", "running", "succeeded", "Failed", "Canceled", "Unknown", "lost", "published", "dead", "free", "occupied", "cleanup", "superseded", "live", "nonsense", ""}
	few := rapid.SampledFrom([]string{"1", "2"})
	rapid.Check(t, func(rt *rapid.T) {
		var records []*record.Record
		for i := range rapid.IntRange(1, 40).Draw(rt, "n") {
			at := story.Day.UnixNano() + rapid.Int64Range(0, 3600).Draw(rt, "at")*1e9
			r := &record.Record{Time: at, Observed: at + 1e6, Service: rapid.SampledFrom([]string{"provisioner", "aap", "node-agent", "cli", "kernel"}).Draw(rt, "service")}
			if rapid.IntRange(0, 4).Draw(rt, "span") == 0 {
				r.Signal, r.End, r.TraceID = record.Span, at+rapid.Int64Range(-1e9, 1e9).Draw(rt, "took"), "t"
				r.SpanID, r.ParentID, r.Name = few.Draw(rt, "id")+string(rune('a'+i)), few.Draw(rt, "parent")+string(rune('a'+rapid.IntRange(0, 40).Draw(rt, "p"))), "s"
				r.Attrs = record.Attrs{{Key: "allocation_id", Value: "a-1"}}
			} else {
				r.Signal, r.Name = record.Log, rapid.SampledFrom(names).Draw(rt, "name")
				r.Attrs = record.Attrs{
					{Key: "allocation_id", Value: "a-" + few.Draw(rt, "a")}, {Key: "claim_id", Value: "c-" + few.Draw(rt, "c")}, {Key: "fence", Value: few.Draw(rt, "f")},
					{Key: "from", Value: rapid.SampledFrom(states).Draw(rt, "from")}, {Key: "node_id", Value: "n-" + few.Draw(rt, "node")}, {Key: "node_instance_id", Value: "i-" + few.Draw(rt, "i")},
					{Key: "provider_job", Value: "aap/x/job/" + few.Draw(rt, "j")}, {Key: "task_id", Value: "k-" + few.Draw(rt, "k")}, {Key: "to", Value: rapid.SampledFrom(states).Draw(rt, "to")}, {Key: "workflow_id", Value: "w-" + few.Draw(rt, "w")},
				}
			}
			records = append(records, r)
		}
		there := analyze(t, records)
		back := make([]*record.Record, 0, len(records))
		for i := range records {
			back = append(back, records[len(records)-1-i])
		}
		a, _ := json.Marshal(there)
		if b, _ := json.Marshal(analyze(t, back)); string(a) != string(b) {
			rt.Errorf("another order, another answer:\n%s\n%s", a, b)
		}
		for _, one := range there.Allocations {
			seen := map[string]bool{}
			for _, e := range one.Timeline {
				if e.Ref != "" && seen[e.Ref] {
					rt.Errorf("%s stands twice", e.Ref)
				}
				seen[e.Ref] = true
			}
		}
	})
}
