package api_test

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// lived is a node that two allocations held one after the other, each under another installation and by another provider. The first
// has been released, though a view shows otherwise, and a machine of it is left.
const lived = `
10:00:00    api             audit.action allocation_id=a-first actor=kim actor_type=user action=create tenant=blue
10:00:00.1  provisioner     allocation.state allocation_id=a-first to=requested
10:00:00.3  provisioner     workflow.state allocation_id=a-first workflow_id=w-first operation=provision to=running
10:00:00.4  provisioner     node.assigned allocation_id=a-first node_id=n-1
10:00:00.5  provisioner     node.instance node_id=n-1 node_instance_id=i-1 to=live
10:00:01    provisioner     allocation.state allocation_id=a-first from=reserved to=provisioning
10:00:01.1  aap             provider_job.state provider=aap provider_job=aap/prod/job/1 operation=provision allocation_id=a-first to=Pending
10:00:03.1  aap             provider_job.state provider=aap provider_job=aap/prod/job/1 operation=provision allocation_id=a-first to=Running
10:00:07.1  aap             provider_job.state provider=aap provider_job=aap/prod/job/1 operation=provision allocation_id=a-first to=Succeeded
10:00:08    node            info node_id=n-1 node_instance_id=i-1 | first light on n-1
10:00:09    provisioner     workflow.state allocation_id=a-first workflow_id=w-first operation=provision to=completed
10:00:10    provisioner     allocation.state allocation_id=a-first from=provisioning to=active
10:00:11    read-model      projection.observed allocation_id=a-first projection=ui field=state value=active
10:01:00    api             audit.action allocation_id=a-first actor=kim actor_type=user action=delete
10:01:01    provisioner     allocation.state allocation_id=a-first from=active to=releasing
10:01:10    provisioner     node.unassigned allocation_id=a-first node_id=n-1
10:01:11    provisioner     allocation.state allocation_id=a-first from=releasing to=released
10:01:12    provisioner     node.instance node_id=n-1 node_instance_id=i-1 to=superseded
10:01:13    provisioner     node.instance node_id=n-1 node_instance_id=i-2 to=live
10:01:20    api             allocation.state allocation_id=a-second tenant=red to=requested
10:01:21    provisioner     node.assigned allocation_id=a-second node_id=n-1
10:01:21.5  provisioner     node.occupancy node_id=n-1 to=occupied allocation_id=a-second
10:01:22    provisioner     allocation.state allocation_id=a-second from=reserved to=provisioning
10:01:23    eda             provider_job.state provider=eda provider_job=eda/prod/job/7 operation=provision allocation_id=a-second to=Running
10:01:25    eda             provider_job.state provider=eda provider_job=eda/prod/job/7 operation=provision allocation_id=a-second to=Failed
10:01:26    node            error node_id=n-1 node_instance_id=i-2 observed=10:01:22 | its clock is ahead
10:01:30    virt-controller info allocation_id=a-first resource_uid=vm-1 kind=VirtualMachine | VirtualMachine vm-1 created
10:06:00    virt-controller info allocation_id=a-first resource_uid=vm-1 kind=VirtualMachine | VirtualMachine vm-1 is running
10:07:00    read-model      projection.observed allocation_id=a-first projection=ui field=state value=active
10:09:00    read-model      projection.observed allocation_id=a-first projection=ui field=state value=active
10:01:00    provisioner     node.occupancy node_id=n-2 from=occupied to=cleanup
10:01:02    inventory       projection.observed node_id=n-2 projection=inventory field=occupancy value=occupied
10:08:00    inventory       projection.observed node_id=n-2 projection=inventory field=occupancy value=free
10:08:00    cmdb            projection.observed node_id=n-2 projection=cmdb field=occupancy value=cleanup
10:08:00    shelf           projection.observed node_id=n-2 projection=shelf field=occupancy value=blue
`

// asked gives an answer, which has to be there and to be as described.
func asked[T any](t *testing.T, p *platform, path string) (out T) {
	t.Helper()
	answer, text := p.do(t, "all", http.MethodGet, "/api/v1"+path, "")
	if err := json.Unmarshal(text, &out); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, answer.StatusCode, text, err)
	}
	return out
}

// What is known beside verdicts, as records told it: who is what to whom, since when, and who is silent.
func TestFacts(t *testing.T) {
	p := newPlatform(t, lived)
	p.settled(t, `"layer":"provider"`, `"layer":"projection"`)
	whole := asked[api.Timeline](t, p, "/allocations/a-first/timeline").Timeline
	began := int64(whole[0].Time) // 10:00:00 of the tale
	at := func(d time.Duration) correlator.Time { return correlator.Time(began + int64(d)) }
	until := func(d time.Duration) *correlator.Time { moment := at(d); return &moment }
	same := func(what string, want, have any) {
		t.Helper()
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	stamp := func(d time.Duration) string { return time.Unix(0, int64(at(d))).UTC().Format(time.RFC3339Nano) }

	t.Run("states", func(t *testing.T) {
		now := asked[correlator.FourStates](t, p, "/allocations/a-first/states")
		if now.Desired == nil || now.Desired.Value != "released" || now.Desired.By != "kim" || now.Desired.Since != at(time.Minute) {
			t.Errorf("desired: %+v", now.Desired)
		}
		runs := map[string]string{}
		for _, r := range now.Execution {
			runs[r.Kind+" "+r.ID] = r.Value
		}
		same("execution", map[string]string{"workflow w-first": "completed", "provider_job aap/prod/job/1": "Succeeded"}, runs)
		if o := now.Observed; len(o) != 1 || o[0].Kind != "allocation" || o[0].Value != "released" || o[0].Since != at(71*time.Second) { // its node is another's
			t.Errorf("observed: %+v", o)
		}
		if len(now.Projected) != 1 || now.Projected[0].Value != "active" || !now.Projected[0].Drift || now.Projected[0].Seen != at(9*time.Minute) {
			t.Errorf("projected: %+v", now.Projected)
		}
		same("drift", []correlator.Drift{{Projection: "ui", Field: "state", Shown: "active", Truth: "released", Since: at(71 * time.Second)}}, now.Drift)
		then := asked[correlator.FourStates](t, p, "/allocations/a-first/states?as_of="+stamp(30*time.Second))
		if then.AsOf > at(30*time.Second) || then.Desired.Value != "active" || then.Observed[0].Value != "active" || then.Observed[1].ID != "i-1" || then.Projected[0].Drift || len(then.Drift) > 0 {
			t.Errorf("half a minute after the beginning: %+v", then)
		}
	})

	t.Run("as of", func(t *testing.T) {
		then := "?as_of=" + stamp(30*time.Second)
		if a := asked[api.Verdict](t, p, "/allocations/a-first/verdict"+then); a.Verdict.Outcome != "none" || *a.State != "active" || a.JudgedAt != nil {
			t.Errorf("the verdict of then: %+v", a)
		}
		for _, e := range asked[api.Timeline](t, p, "/allocations/a-first/timeline"+then).Timeline {
			if e.Observed > at(30*time.Second) {
				t.Errorf("not seen by then: %+v", e)
			}
		}
		if a := asked[api.Verdict](t, p, "/allocations/a-first/verdict"); a.Verdict.Outcome != "attributed" || *a.State != "released" {
			t.Errorf("the verdict of now: %+v", a)
		}
	})

	t.Run("raw", func(t *testing.T) {
		i := slices.IndexFunc(whole, func(e correlator.Entry) bool { return e.Summary == "first light on n-1" })
		full := asked[query.FullEvent](t, p, "/allocations/a-first/raw/"+whole[i].Ref)
		if full.Body != "first light on n-1" || full.Attributes["node_instance_id"] != "i-1" || full.Resource["service.name"] != "node" || full.Via != "node_instance" || full.Time != at(8*time.Second) {
			t.Errorf("%+v", full)
		}
		if answer, _ := p.do(t, "all", http.MethodGet, "/api/v1/allocations/a-second/raw/"+whole[i].Ref, ""); answer.StatusCode != http.StatusNotFound {
			t.Errorf("a record of another allocation: %d", answer.StatusCode)
		}
	})

	t.Run("lookup", func(t *testing.T) {
		for id, want := range map[string]struct {
			kind, source string
			allocations  []string
		}{
			"vm-1": {"resource", "virt-controller", []string{"a-first"}}, "w-first": {"workflow", "provisioner", []string{"a-first"}},
			"n-1":                  {"node", "node", []string{"a-first", "a-second"}},
			"aap%2Fprod%2Fjob%2F1": {"provider_job", "aap", []string{"a-first"}}, "a-second": {"allocation", "eda", []string{"a-second"}},
		} {
			found := asked[query.Lookup](t, p, "/lookup/"+id)
			var ids []string
			for _, a := range found.Allocations {
				if ids = append(ids, a.ID); a.State == nil || a.Since == nil || a.FirstSeen == 0 || a.LastSeen < a.FirstSeen {
					t.Errorf("%s: %+v", id, a)
				}
			}
			slices.Sort(ids)
			if !slices.Contains(found.Kinds, want.kind) || !slices.Equal(ids, want.allocations) || found.LastHeard == nil || found.LastHeard.Source != want.source {
				t.Errorf("%s: %v, %v, last heard %+v", id, found.Kinds, ids, found.LastHeard)
			}
			silent := map[string]bool{}
			for _, l := range found.Layers {
				silent[l.Layer] = l.Silent
			}
			if !silent["node"] || !silent["cert"] || silent["projection"] || silent["provider"] {
				t.Errorf("%s: silent are %v", id, silent)
			}
		}
	})

	t.Run("node", func(t *testing.T) {
		n := asked[query.Node](t, p, "/nodes/n-1")
		same("instances", []query.NodeInstance{{ID: "i-1", From: until(500 * time.Millisecond), To: until(72 * time.Second)}, {ID: "i-2", From: until(73 * time.Second)}}, n.Instances)
		same("assignments", []query.Assignment{{ID: "a-first", From: until(400 * time.Millisecond), To: until(70 * time.Second)}, {ID: "a-second", From: until(81 * time.Second)}}, n.Assignments)
		if n.Allocation == nil || *n.Allocation != "a-second" || n.Occupancy != "occupied" || n.LastHeard == nil || *n.LastHeard != at(86*time.Second) {
			t.Errorf("%+v", n)
		}
		same("drift of a node that is shown by nobody", []correlator.Drift{}, n.Drift)
		nobodys := asked[query.Node](t, p, "/nodes/n-2")
		if nobodys.Allocation != nil || nobodys.Occupancy != "cleanup" || *nobodys.OccupancySince != at(time.Minute) {
			t.Errorf("%+v", nobodys)
		}
		same("drift of a node that nobody holds", []correlator.Drift{{Projection: "inventory", Field: "occupancy", Shown: "free", Truth: "cleanup", Since: at(time.Minute)}}, nobodys.Drift)
		instances, last := map[string]int{}, correlator.Time(0)
		for _, e := range asked[api.Events](t, p, "/nodes/n-1/timeline").Events {
			if instances[e.IDs["node_instance_id"]]++; e.Time < last {
				t.Errorf("%s comes after %d", e.Ref, last)
			}
			last = e.Time
		}
		if instances["i-1"] < 3 || instances["i-2"] < 3 {
			t.Errorf("records by installation: %v", instances)
		}
		first := asked[api.Events](t, p, "/nodes/n-1/timeline?limit=1&from="+stamp(7*time.Second)+"&to="+stamp(9*time.Second))
		if len(first.Events) != 1 || first.Events[0].Body != "first light on n-1" || first.Next != nil {
			t.Errorf("in two seconds: %+v", first)
		}
	})

	t.Run("orphans", func(t *testing.T) {
		list := asked[api.OrphanList](t, p, "/orphans")
		if len(list.Orphans) != 1 || list.Orphans[0].ResourceUID != "vm-1" || list.Orphans[0].AllocationID != "a-first" || list.Examined != 2 {
			t.Errorf("%+v", list)
		}
	})

	t.Run("layers", func(t *testing.T) {
		list := asked[query.LayerList](t, p, "/layers").Layers
		i := slices.IndexFunc(list, func(l query.Layer) bool { return l.Layer == "provider" })
		if l := list[i]; l.Owner.Team != "automation" || !slices.Equal(l.Sources, []string{"aap", "eda", "virt-controller"}) || l.Silent || l.Blamed != 1 || *l.LastHeard != at(6*time.Minute) {
			t.Errorf("%+v", l)
		}
		if list[0].Layer != "client" || !list[0].Silent || list[0].LastHeard != nil {
			t.Errorf("a layer that nobody speaks for: %+v", list[0])
		}
	})

	t.Run("sources", func(t *testing.T) {
		list := map[string]query.Source{}
		for _, one := range asked[query.SourceList](t, p, "/sources").Sources {
			list[one.Source] = one
		}
		if s := list["node"]; s.Alive || s.Layer != "node" || s.LastHeard != at(86*time.Second) || s.SilentSeconds < 420 || s.Records != 2 || s.Errors != 1 || math.Abs(s.Ahead-4) > 0.01 || s.Lag < 420 {
			t.Errorf("node: %+v", s)
		}
		same("coverage of node", map[string]float64{"allocation_id": 0, "workflow_id": 0, "correlation_id": 0, "node_id": 1, "node_instance_id": 1}, list["node"].Coverage)
		if s := list["read-model"]; !s.Alive || s.SilentSeconds > 60 || s.Ahead != 0 || s.Coverage["allocation_id"] != 1 {
			t.Errorf("read-model: %+v", s)
		}
	})

	t.Run("providers", func(t *testing.T) {
		list := asked[query.ProviderComparison](t, p, "/providers/compare").Providers
		if len(list) != 2 || list[0].Provider != "aap" || list[1].Provider != "eda" {
			t.Fatalf("%+v", list)
		}
		if f := list[0]; f.Operation != "provision" || f.Jobs != 1 || f.Succeeded != 1 || f.Failed != 0 || f.Wait.P50 != 2 || f.Run.Max != 4 {
			t.Errorf("%+v", f)
		}
		if f := list[1]; f.Jobs != 1 || f.Succeeded != 0 || f.Failed != 1 || f.Open != 0 || f.Run.P50 != 2 {
			t.Errorf("%+v", f)
		}
		if before := asked[query.ProviderComparison](t, p, "/providers/compare?to="+stamp(0)); len(before.Providers) != 0 {
			t.Errorf("before any of it: %+v", before)
		}
	})
}
