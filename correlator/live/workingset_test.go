package live_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// What a working set says after records came one by one, in any order, some of them twice, is what reading the
// whole story says.
func TestAWorkingSetSaysWhatTheWholeRecordSetSays(t *testing.T) {
	folders, err := filepath.Glob("../../truth/testdata/round-*")
	if err != nil {
		t.Fatal(err)
	}
	var all []story.Scenario
	for _, folder := range append(folders, "../testdata/scenarios") {
		some, err := story.Load(folder)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	p := defaultProfile(t)
	compared := 0
	for n, s := range all {
		want := map[string]correlator.Assessment{}
		for _, one := range query.Assess(correlator.NewDataset(copies(s.Records), nil, p, correlator.AsOf{}), rules.All()) {
			want[one.ID] = one
		}
		r := rand.New(rand.NewPCG(uint64(n), 3)) //nolint:gosec // a test's order
		set := live.NewWorkingSet(p, rules.All(), live.DefaultBounds())
		records := copies(s.Records)
		if n%3 != 0 {
			r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		}
		records = append(records, copies(s.Records[:len(s.Records)/10])...)
		for len(records) > 0 {
			k := min(len(records), 1+r.IntN(5))
			for _, id := range set.Add(records[:k], nil) {
				set.Judge(id, 0) // somebody looks in between
			}
			records = records[k:]
		}
		for id, one := range want {
			judged, ok := set.Judge(id, 0)
			if !ok {
				t.Errorf("%s: %s is not in the working set", s.Name, id)
				continue
			}
			compared++
			if d := cmp.Diff(one.Fingerprint(), judged.Assessment.Fingerprint()); d != "" {
				t.Errorf("%s: %s: the whole record set (-) and the working set (+):\n%s", s.Name, id, d)
			}
		}
	}
	if compared < len(all) {
		t.Errorf("%d verdicts of %d stories compared", compared, len(all))
	}
}

// One allocation of very many records takes its share of the working set and no more: lines are let go, what is told by
// lifecycle events and failures is not, and the verdict is the same. One of no records has none.
func TestAWorkingSetIsBounded(t *testing.T) {
	p := defaultProfile(t)
	all, err := story.Load("../testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(s story.Scenario) bool { return s.Name == "cert-expired-client" })
	records := copies(all[i].Records)
	opt := live.DefaultBounds()
	opt.Own, opt.Total, opt.Unclaimed, opt.Context, opt.Lines = 500, 3000, 100, 100, 10
	set := live.NewWorkingSet(p, rules.All(), opt)
	allocation := query.Assess(correlator.NewDataset(copies(records), nil, p, correlator.AsOf{}), rules.All())[0].ID
	lines := 20_000
	if os.Getenv("FAULTLINE_LIVE") != "" {
		lines = 1_000_000
	}
	begun := time.Now()
	for n := 0; n < lines; n += 1000 {
		var noise []*record.Record
		for k := range 1000 {
			at := records[0].Time + int64(n+k)*1000
			noise = append(noise,
				&record.Record{Signal: record.Log, Time: at, Observed: at, Service: "api", Body: "line " + strconv.Itoa(n+k), Attrs: record.Attrs{{Key: "allocation_id", Value: allocation}}},
				&record.Record{Signal: record.Log, Time: at, Observed: at, Service: "db", Severity: 17, Body: "somebody's error " + strconv.Itoa(n+k)})
		}
		set.Add(noise, nil)
	}
	took := time.Since(begun)
	set.Add(records, nil)
	if _, held := set.Size(); held > 2000 {
		t.Errorf("%d records are held", held)
	}
	begun = time.Now()
	judged, ok := set.Judge(allocation, 0)
	t.Logf("%d records taken in %s; judged in %s", 2*lines, took.Round(time.Millisecond), time.Since(begun).Round(time.Microsecond))
	if !ok || judged.Assessment.Verdict.Outcome != correlator.Attributed || judged.Assessment.Verdict.Faults[0].Layer != "cert" {
		t.Errorf("%+v", judged.Assessment.Verdict)
	}
	if _, ok := set.Judge("nobody", 0); ok {
		t.Error("a verdict on nothing")
	}
	// Whoever was not heard of for longest leaves a working set that is full.
	for n := range 4000 {
		at := records[0].Time + int64(n)
		set.Add([]*record.Record{{Signal: record.Log, Time: at, Observed: at + int64(time.Hour), Service: "api", Body: "x" + strconv.Itoa(n), Attrs: record.Attrs{{Key: "allocation_id", Value: "b-" + strconv.Itoa(n)}}}}, nil)
	}
	if allocations, held := set.Size(); held > 3000 || allocations > 3000 || allocations < 2000 {
		t.Errorf("%d allocations, %d records", allocations, held)
	}
	if holds, _ := set.Holds(allocation); holds {
		t.Error("the oldest did not leave")
	}
}

// A record that comes again with other contents has arrived once.
func TestAConflictingCopyHasArrivedOnce(t *testing.T) {
	set := live.NewWorkingSet(defaultProfile(t), rules.All(), live.DefaultBounds())
	for _, body := range []string{"begun", "begun again"} {
		set.Add([]*record.Record{{Signal: record.Log, Time: 1e18, Observed: 1e18, Service: "api", Body: body, Attrs: record.Attrs{
			{Key: "allocation_id", Value: "a-1"}, {Key: "event_id", Value: "e-1"},
		}}}, nil)
	}
	if judged, ok := set.Judge("a-1", 0); !ok || len(judged.Arrived) != 1 {
		t.Errorf("%d arrived, want 1", len(judged.Arrived))
	}
}

// One record that claims to be observed in the future makes nobody late: judging goes by when it arrived, and its emitter is named.
func TestAClaimOfTheFutureMakesNobodyLate(t *testing.T) {
	set := live.NewWorkingSet(defaultProfile(t), rules.All(), live.DefaultBounds())
	begun := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC).UnixNano()
	in := func(service string, at, observed int64, attrs ...record.Attr) *record.Record {
		return &record.Record{Signal: record.Log, Name: "allocation.state", Time: at, Observed: observed, Ingested: begun + int64(time.Second), Service: service, Attrs: attrs}
	}
	set.Add([]*record.Record{
		in("api", begun, begun, record.Attr{Key: "allocation_id", Value: "a-1"}, record.Attr{Key: "to", Value: "requested"}),
		in("edge", begun, begun+int64(90*time.Minute), record.Attr{Key: "allocation_id", Value: "a-2"}, record.Attr{Key: "to", Value: "requested"}),
		in("provisioner", begun, begun, record.Attr{Key: "component", Value: "provisioner"}),
	}, nil)
	if now := set.Now(); now > begun+int64(time.Minute) {
		t.Errorf("now is %s", time.Unix(0, now).UTC())
	}
	if judged, ok := set.Judge("a-1", 0); !ok || judged.Assessment.Verdict.Outcome != correlator.None {
		t.Errorf("%+v", judged.Assessment.Verdict)
	}
	if got := set.Ahead(); len(got) != 1 || got["edge"] != 1 {
		t.Errorf("ahead: %v", got)
	}
}

// A time at either end of what a record can hold overflows no window: the allocation is judged by what else is known of it, and its neighbour as before.
func TestTimesAtTheEndsOfTime(t *testing.T) {
	begun := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC).UnixNano()
	for name, at := range map[string]int64{"the last": math.MaxInt64, "the first": math.MinInt64, "none": 0} {
		set := live.NewWorkingSet(defaultProfile(t), rules.All(), live.DefaultBounds())
		in := func(allocation, service, event string, at, observed int64, attrs ...record.Attr) *record.Record {
			attrs = append(attrs, record.Attr{Key: "allocation_id", Value: allocation})
			return &record.Record{Signal: record.Log, Name: event, Time: at, Observed: observed, Ingested: begun + int64(time.Second), Service: service, Attrs: attrs}
		}
		set.Add([]*record.Record{
			in("a-1", "api", "allocation.state", begun, begun, record.Attr{Key: "to", Value: "requested"}),
			in("a-1", "edge", "", at, at, record.Attr{Key: "http.response.status_code", Value: "503"}),
			in("a-1", "edge", "task.state", at, begun, record.Attr{Key: "task_id", Value: "t-1"}, record.Attr{Key: "to", Value: "queued"}),
			in("a-2", "api", "allocation.state", begun, begun, record.Attr{Key: "to", Value: "requested"}),
		}, nil)
		if now := set.Now(); now < begun || now > begun+int64(time.Minute) {
			t.Errorf("%s: now is %s", name, time.Unix(0, now).UTC())
		}
		for _, id := range []string{"a-1", "a-2"} {
			judged, ok := set.Judge(id, 0)
			if v := judged.Assessment.Verdict; !ok || len(v.Faults) > 0 || id == "a-2" && v.Outcome != correlator.None {
				t.Errorf("%s: %s: %s: %s", name, id, v.Outcome, v.Explanation)
			}
		}
	}
}

// copies keeps a run from seeing what an earlier one worked out.
func copies(in []*record.Record) []*record.Record {
	out := make([]*record.Record, len(in))
	for i, r := range in {
		c := *r
		out[i] = &c
	}
	return out
}

func defaultProfile(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}
