package incident_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// assessments judges every allocation of a story.
func assessments(t testing.TB, text string, m correlator.AsOf) []correlator.Assessment {
	t.Helper()
	p := profileOf(t)
	records, err := story.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return query.Assess(correlator.NewDataset(records, nil, p, m), rules.All())
}

func profileOf(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// told writes incidents as lines: subject, cause, whether open, victims.
func told(list []incident.Incident) string {
	var b strings.Builder
	for _, in := range list {
		open := "over"
		if in.Open {
			open = "open"
		}
		var victims []string
		for _, v := range in.Victims {
			victims = append(victims, v.ID)
		}
		slices.Sort(victims)
		b.WriteString(strings.Join([]string{in.Layer + "." + in.Mechanism, in.Subject.Kind, strings.Join(in.Subject.IDs, ","), open, strings.Join(victims, " ")}, " · ") + "\n")
	}
	return b.String()
}

func TestIncidents(t *testing.T) {
	f := func(name, text, want string) {
		t.Helper()
		list := incident.Group(assessments(t, text, correlator.AsOf{}), 0, incident.Window)
		if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(told(list))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	f("one database, three victims, the last one hours later", `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 cli span 20ms error kind=client allocation_id=a-1 trace_id=t1 http.request.method=POST url.path=/v1/allocations http.response.status_code=500
10:00:01 postgres error trace_id=t1 | FATAL: sorry, too many clients already
10:03:00 api allocation.state allocation_id=a-2 to=requested
10:03:01 cli span 20ms error kind=client allocation_id=a-2 trace_id=t2 http.request.method=POST url.path=/v1/allocations http.response.status_code=500
10:03:01 postgres error trace_id=t2 | FATAL: sorry, too many clients already
10:04:00 api allocation.state allocation_id=a-1 to=canceled
10:04:00 api allocation.state allocation_id=a-2 to=canceled
14:00:00 api allocation.state allocation_id=a-3 to=requested
14:00:01 cli span 20ms error kind=client allocation_id=a-3 trace_id=t3 http.request.method=POST url.path=/v1/allocations http.response.status_code=500
14:00:01 postgres error trace_id=t3 | FATAL: sorry, too many clients already
`, `
db.pool · component · postgres · open · a-3
db.pool · component · postgres · over · a-1 a-2
`)
	f("two nodes with full disks are two incidents", `
10:00:00 provisioner node.assigned allocation_id=a-1 node_id=n-1
10:00:00 provisioner node.assigned allocation_id=a-2 node_id=n-2
10:00:01 provisioner allocation.state allocation_id=a-1 to=provisioning
10:00:01 provisioner allocation.state allocation_id=a-2 to=provisioning
10:00:02 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 to=dispatched claim_id=c-1
10:00:02 provisioner task.state allocation_id=a-2 task_id=k-2 node_id=n-2 to=dispatched claim_id=c-2
10:00:03 node-agent error node_id=n-1 task_id=k-1 | write /var/lib/image: no space left on device
10:00:03 node-agent error node_id=n-2 task_id=k-2 | write /var/lib/image: no space left on device
10:00:04 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 to=failed claim_id=c-1
10:00:04 provisioner task.state allocation_id=a-2 task_id=k-2 node_id=n-2 to=failed claim_id=c-2
`, `
node.disk · node · n-1 · open · a-1
node.disk · node · n-2 · open · a-2
`)
	f("nothing wrong, no incident", `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 api allocation.state allocation_id=a-1 to=active
`, "")
}

// The same set of verdicts gives the same incidents in any order.
func TestIncidentsDoNotDependOnOrder(t *testing.T) {
	at := func(minutes int) correlator.Time {
		return correlator.Time(story.Day.Add(time.Duration(minutes) * time.Minute).UnixNano())
	}
	some := func(t *rapid.T, name string, all ...string) string { return rapid.SampledFrom(all).Draw(t, name) }
	rapid.Check(t, func(t *rapid.T) {
		var all []correlator.Assessment
		for range rapid.IntRange(0, 30).Draw(t, "allocations") {
			state := some(t, "state", "provisioning", "failed", "released", "release_failed")
			s := correlator.Assessment{ID: some(t, "id", "a", "b", "c", "d", "e", "f", "g"), State: &state}
			s.Verdict.AsOf = at(600)
			for range rapid.IntRange(0, 3).Draw(t, "occurrences") {
				onset := rapid.IntRange(0, 500).Draw(t, "onset")
				h := correlator.FaultOccurrence{
					Layer: some(t, "layer", "cert", "db"), Mechanism: "m", Confidence: some(t, "confidence", "high", "medium", "low"),
					Subject: correlator.Subject{Kind: "host", IDs: []string{some(t, "subject", "x", "y", "z")}},
					Onset:   at(onset), Last: at(onset + rapid.IntRange(0, 60).Draw(t, "took")), Evidence: []string{some(t, "ref", "e-1", "e-2")},
				}
				if rapid.Bool().Draw(t, "two names") {
					h.Subject.IDs = append(h.Subject.IDs, "zz")
				}
				if rapid.Bool().Draw(t, "cleared") {
					end := h.Last
					h.ClearedAt = &end
				}
				s.Occurrences = append(s.Occurrences, h)
			}
			all = append(all, s)
		}
		want := asText(incident.Group(all, 0, incident.Window))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range 3 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if d := cmp.Diff(want, asText(incident.Group(all, 0, incident.Window))); d != "" {
				t.Fatal(d)
			}
		}
		victims, hits := map[string]bool{}, map[string]bool{}
		for _, s := range all {
			if len(s.Occurrences) > 0 {
				hits[s.ID] = true
			}
		}
		for _, in := range incident.Group(all, 0, incident.Window) {
			for _, v := range in.Victims {
				victims[v.ID] = true
			}
		}
		if d := cmp.Diff(hits, victims); d != "" {
			t.Fatalf("whoever was hit is a victim of something: %s", d)
		}
	})
}

func asText(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// Incidents of the same records, shuffled: the whole way from record to incident.
func TestIncidentsOfShuffledRecords(t *testing.T) {
	all, err := story.Load("../testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	var records []*record.Record
	for _, s := range all[:20] {
		records = append(records, s.Records...)
	}
	of := func() string {
		fresh := make([]*record.Record, len(records))
		for i, r := range records {
			one := *r
			fresh[i] = &one
		}
		return asText(incident.Group(query.Assess(correlator.NewDataset(fresh, nil, p, correlator.AsOf{}), rules.All()), 0, incident.Window))
	}
	want := of()
	if !strings.Contains(want, "incident_id") {
		t.Fatal("no incident at all")
	}
	r := rand.New(rand.NewPCG(7, 7))
	for range 3 {
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		if d := cmp.Diff(want, of()); d != "" {
			t.Fatal(d)
		}
	}
}

// An incident stays the same while more is learnt of what failed, where and since when, and while others are hit; what hits the same
// allocation after it was over is another.
func TestAnIncidentKeepsItsID(t *testing.T) {
	at := func(second int) correlator.Time { return correlator.Time(int64(second) * int64(time.Second)) }
	hit := func(allocation, layer, mechanism, kind, id string, onset, last int) correlator.Assessment {
		state := "provisioning"
		a := correlator.Assessment{ID: allocation, State: &state}
		a.Verdict.AsOf = at(10_000)
		cleared := at(last)
		a.Occurrences = []correlator.FaultOccurrence{{
			Layer: layer, Mechanism: mechanism, Subject: correlator.Subject{Kind: kind, IDs: []string{id}}, Confidence: correlator.High,
			Onset: at(onset), Last: at(last), ClearedAt: &cleared,
		}}
		return a
	}
	ids := func(all ...correlator.Assessment) (out []string) {
		list := incident.Group(all, 0, incident.Window)
		slices.SortFunc(list, func(a, b incident.Incident) int { return int(a.FirstSeen - b.FirstSeen) })
		for _, in := range list {
			out = append(out, in.ID)
		}
		return out
	}
	before := ids(hit("a-1", "node_agent", "overdue", "node", "n-1", 1000, 1100))
	for name, now := range map[string][]string{
		"what failed":  ids(hit("a-1", "node_agent", "crash", "node", "n-1", 1000, 1100)),
		"where":        ids(hit("a-1", "node_agent", "crash", "component", "agent", 1000, 1100)),
		"since when":   ids(hit("a-1", "node_agent", "overdue", "node", "n-1", 900, 1200)),
		"whom it hits": ids(hit("a-1", "node_agent", "overdue", "node", "n-1", 1000, 1100), hit("a-0", "node_agent", "overdue", "node", "n-1", 1050, 1100)),
	} {
		if !slices.Equal(now, before) {
			t.Errorf("%s: %v was %v", name, now, before)
		}
	}
	if other := ids(hit("a-1", "ingress", "overdue", "node", "n-1", 1000, 1100)); slices.Equal(other, before) {
		t.Error("another layer's is the same incident")
	}
	again := ids(hit("a-1", "node_agent", "overdue", "node", "n-1", 1000, 1100), hit("a-1", "node_agent", "overdue", "node", "n-1", 5000, 5100))
	if len(again) != 2 || again[0] != before[0] || again[1] == again[0] {
		t.Errorf("the same trouble after it was over: %v", again)
	}
}
