package correlator_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// scenarios are the stories. Their verdict section holds `allocation ID outcome` lines, each followed by
// `fault rule confidence` (or `fault layer.*`), `candidate layer`, `missing layer`, `drift projection
// field`, `finding kind`, `orphan resource allocation`, `state S`, `cleared` and `says "words"` lines that must hold.
func scenarios(t testing.TB) []story.Scenario {
	t.Helper()
	all, err := story.Load("testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var theDefault = sync.OnceValues(func() (*profile.Profile, error) { return profile.Load("") })

func defaultProfile(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := theDefault()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func analyze(t testing.TB, records []*record.Record) correlator.Answer {
	t.Helper()
	return query.Analyze(correlator.NewDataset(copies(records), nil, defaultProfile(t), correlator.AsOf{}), rules.All())
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

func TestScenarios(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.Name, func(t *testing.T) {
			answer := analyze(t, s.Records)
			check(t, answer, s.Verdict)
			for _, line := range s.Verdict {
				if f := strings.Fields(line); len(f) == 3 && f[0] == "orphan" && !slices.ContainsFunc(answer.Orphans, func(o correlator.Orphan) bool {
					return o.ResourceUID == f[1] && o.AllocationID == f[2] && len(o.Evidence) > 0
				}) {
					t.Errorf("does not hold: %s: %+v", line, answer.Orphans)
				}
			}
		})
	}
}

func check(t *testing.T, got correlator.Answer, want []string) {
	t.Helper()
	var a *correlator.Allocation
	faults := 0
	finish := func() {
		if a != nil && faults != len(a.Verdict.Faults) {
			t.Errorf("%s: %d faults, want %d: %s", a.ID, len(a.Verdict.Faults), faults, show(a.Verdict))
		}
		faults = 0
	}
	for _, line := range want {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if f[0] == "allocation" {
			finish()
			i := slices.IndexFunc(got.Allocations, func(x correlator.Allocation) bool { return x.ID == f[1] })
			if i < 0 {
				t.Fatalf("no allocation %s", f[1])
			}
			a = &got.Allocations[i]
			if a.Verdict.Outcome != f[2] {
				t.Errorf("%s: outcome %s, want %s: %s", a.ID, a.Verdict.Outcome, f[2], show(a.Verdict))
			}
			continue
		}
		if f[0] == "fault" {
			faults++
		}
		if !holds(a, f, line) {
			t.Errorf("%s: does not hold: %s\n%s", a.ID, line, show(a.Verdict))
		}
	}
	finish()
}

func holds(a *correlator.Allocation, f []string, line string) bool {
	v := a.Verdict
	switch f[0] {
	case "orphan":
		return true // of the whole answer: see TestScenarios
	case "fault":
		return slices.ContainsFunc(v.Faults, func(x correlator.Fault) bool {
			layer, any := strings.CutSuffix(f[1], ".*")
			named := x.Rule == f[1] || any && x.Layer == layer
			return named && (len(f) < 3 || x.Confidence == f[2]) && len(x.Evidence) > 0
		})
	case "cleared":
		return slices.ContainsFunc(v.Faults, func(x correlator.Fault) bool { return x.ClearedAt != nil })
	case "candidate":
		return slices.ContainsFunc(v.Candidates, func(x correlator.Candidate) bool { return x.Layer == f[1] })
	case "missing":
		return slices.ContainsFunc(v.Missing, func(x correlator.Missing) bool { return x.Layer == f[1] })
	case "drift":
		return slices.ContainsFunc(v.Drift, func(x correlator.Drift) bool { return x.Projection == f[1] && x.Field == f[2] })
	case "finding":
		return slices.ContainsFunc(v.Findings, func(x correlator.Finding) bool { return x.Kind == f[1] })
	case "state":
		return a.State != nil && *a.State == f[1]
	case "says":
		return strings.Contains(v.Explanation, strings.Trim(strings.TrimPrefix(line, "says "), `"`))
	}
	return false
}

func show(v correlator.Verdict) string {
	b, _ := json.MarshalIndent(v, "  ", " ")
	return string(b)
}

// The same records in any order, some twice, give the same answer to the byte.
func TestOrderAndDuplicatesDoNotMatter(t *testing.T) {
	for _, s := range scenarios(t) {
		want, _ := json.Marshal(analyze(t, s.Records).Allocations)
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 5))
			mixed := slices.Clone(s.Records)
			for range len(mixed) / 20 {
				mixed = append(mixed, mixed[r.IntN(len(mixed))])
			}
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if got, _ := json.Marshal(analyze(t, mixed).Allocations); string(got) != string(want) {
				t.Errorf("%s: seed %d gives another answer", s.Name, seed)
			}
		}
	}
}

// Without the telemetry of a layer the verdict is the same or undetermined (or none, where the trouble
// itself was only seen there): never another owner.
func TestWithheldLayersNeverMoveTheBlame(t *testing.T) {
	for _, s := range scenarios(t) {
		owners := map[string]bool{}
		for _, a := range analyze(t, s.Records).Allocations {
			for _, f := range a.Verdict.Faults {
				owners[a.ID+" "+f.Layer] = true
			}
		}
		p := defaultProfile(t)
		for _, layer := range p.Layers {
			var rest []*record.Record
			for _, r := range s.Records {
				if p.Layer(r.Service, r.Scope, r.Attr) != layer {
					rest = append(rest, r)
				}
			}
			if len(rest) == len(s.Records) {
				continue
			}
			for _, a := range analyze(t, rest).Allocations {
				for _, f := range a.Verdict.Faults {
					if layer == "deploy" && owners[a.ID+" deploy"] {
						continue // nothing else tells a bad rollout from the trouble that it made
					}
					if !owners[a.ID+" "+f.Layer] {
						t.Errorf("%s without %s: %s is blamed by %s (%s)", s.Name, layer, f.Layer, f.Rule, f.Summary)
					}
				}
			}
		}
	}
}

// A fault stands on what it cites: with the cited records and what the lifecycle says it comes out
// again, without the cited ones never.
func TestFaultsAreGrounded(t *testing.T) {
	for _, s := range scenarios(t) {
		answer := analyze(t, s.Records)
		for _, a := range answer.Allocations {
			for _, f := range a.Verdict.Faults {
				switch stands, falls := grounded(t, s.Records, a, f); {
				case !stands:
					t.Errorf("%s: %s does not stand on its evidence", s.Name, f.Rule)
				case !falls:
					t.Errorf("%s: %s is blamed without its evidence", s.Name, f.Layer)
				}
			}
		}
	}
}

// grounded says whether a fault comes out again of its own evidence and the lifecycle's events, and no more without that
// evidence. Where another fault of the same layer stands on its own records, the second can't be told.
func grounded(t *testing.T, records []*record.Record, a correlator.Allocation, f correlator.Fault) (stands, falls bool) {
	keep := func(cited bool) []*record.Record {
		var out []*record.Record
		for _, r := range records {
			isCited := slices.Contains(f.Evidence, record.Ref(r.Key()))
			if cited && (isCited || r.IsEvent()) || !cited && !isCited {
				out = append(out, r)
			}
		}
		return out
	}
	stands = blames(analyze(t, keep(true)), a.ID, f.Layer, f.Mechanism)
	falls = twice(a.Verdict.Faults, f.Layer) || !blames(analyze(t, keep(false)), a.ID, f.Layer, "")
	return stands, falls
}

func twice(faults []correlator.Fault, layer string) bool {
	n := 0
	for _, f := range faults {
		if f.Layer == layer {
			n++
		}
	}
	return n > 1
}

func blames(answer correlator.Answer, id, layer, mechanism string) bool {
	for _, a := range answer.Allocations {
		for _, f := range a.Verdict.Faults {
			if a.ID == id && f.Layer == layer && (mechanism == "" || f.Mechanism == mechanism) {
				return true
			}
		}
	}
	return false
}
