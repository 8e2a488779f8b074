package truth_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/truth"
)

// Stories that were written by people who had read neither the rules nor other stories stay as right as they have become. Their
// first results stand in docs/truth.md and never change.
func TestRoundsStayRight(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	folders, _ := filepath.Glob("testdata/round-*")
	if len(folders) == 0 {
		t.Fatal("no rounds")
	}
	var total truth.Score
	for _, folder := range folders {
		c, err := truth.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		total = total.Add(truth.Count(c.Judge(p)))
	}
	if wrong := total.Grades[truth.Wrong] + total.Grades[truth.Missed] + total.Grades[truth.Alarm]; wrong*100 > 3*total.Judged {
		t.Errorf("%d of %d answers mislead: %v", wrong, total.Judged, total.Grades)
	}
	if right := total.Grades[truth.Right]; right*100 < 95*total.Judged {
		t.Errorf("%d of %d are right: %v", right, total.Judged, total.Grades)
	}
	if kept, claims := total.Kept[correlator.High], total.Claims[correlator.High]; kept*100 < 98*claims {
		t.Errorf("of %d answers called high %d are right", claims, kept)
	}
	if kept, claims := total.Kept[correlator.Medium], total.Claims[correlator.Medium]; kept*100 < 90*claims {
		t.Errorf("of %d answers called medium %d are right", claims, kept)
	}
}

// Stories that each hold one claim on how a verdict comes about (docs/truth.md) stay right, but for these.
func TestClaims(t *testing.T) {
	open := map[string]string{
		"02c-controller-quiet": "who has gone quiet before a deadline owes nothing by the contract: its telemetry is missing",
		"08g-node-drift-own":   "the view was two minutes old when it was decided on",
		"10a-one-sided":        "a refused dial is answered with low confidence",
	}
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	c, err := truth.Open("testdata/claims")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.Judge(p) {
		if why := open[a.Story]; (a.Grade == truth.Right) != (why == "") {
			t.Errorf("%s is %s, where %q is known: %s", a.Story, a.Grade, why, a.Verdict.Explanation)
		}
	}
}

// What is right, and what misleads.
func TestGrade(t *testing.T) {
	f := func(want truth.Grade, x truth.Expected, outcome string, layers ...string) {
		t.Helper()
		v := correlator.Verdict{Outcome: outcome}
		for _, l := range layers {
			v.Faults = append(v.Faults, correlator.Fault{Layer: l})
		}
		if got := x.Grade(v); got != want {
			t.Errorf("%+v: %s %v is %s, want %s", x, outcome, layers, got, want)
		}
	}
	node := truth.Expected{Outcome: correlator.Attributed, Layers: []string{"node"}}
	f(truth.Right, node, correlator.Attributed, "node")
	f(truth.Wrong, node, correlator.Attributed, "db")
	f(truth.Wrong, node, correlator.Attributed, "node", "db")
	f(truth.Abstained, node, correlator.Undetermined)
	f(truth.Missed, node, correlator.None)
	node.Accept = []string{"node_agent", correlator.Undetermined}
	f(truth.Right, node, correlator.Attributed, "node_agent")
	f(truth.Right, node, correlator.Undetermined)
	node.Accept = []string{correlator.Contested}
	f(truth.Right, node, correlator.Contested, "node", "db")
	f(truth.Wrong, node, correlator.Contested, "api", "db")
	f(truth.Right, truth.Expected{Outcome: correlator.Contested}, correlator.Contested, "node", "network")
	f(truth.Wrong, truth.Expected{Outcome: correlator.Contested}, correlator.Attributed, "node")
	healthy := truth.Expected{Outcome: correlator.None}
	f(truth.Right, healthy, correlator.None)
	f(truth.Alarm, healthy, correlator.Attributed, "node")
	f(truth.Abstained, healthy, correlator.Undetermined)
	open := truth.Expected{Outcome: correlator.Undetermined, Accept: []string{"api"}}
	f(truth.Right, open, correlator.Undetermined)
	f(truth.Right, open, correlator.Attributed, "api")
	f(truth.Wrong, open, correlator.Attributed, "db")
}

// What a fault cites is enough for it, and nothing else blames its layer (docs/contract.md §6). Two in a hundred may need a link that
// another record made.
func TestRoundsAreGrounded(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	folders, _ := filepath.Glob("testdata/round-*")
	faults, loose := 0, 0
	for _, folder := range folders {
		c, err := truth.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.Stories {
			for id, verdict := range judged(p, s.Records) {
				for _, f := range verdict.Faults {
					faults++
					alone := without(s.Records, f, false)
					rest := without(s.Records, f, true)
					same := slices.ContainsFunc(judged(p, alone)[id].Faults, func(o correlator.Fault) bool { return o.Layer == f.Layer && o.Mechanism == f.Mechanism })
					blamed := slices.ContainsFunc(judged(p, rest)[id].Faults, func(o correlator.Fault) bool { return o.Layer == f.Layer })
					twice := 0
					for _, o := range verdict.Faults {
						if o.Layer == f.Layer {
							twice++
						}
					}
					if !same || blamed && twice == 1 {
						t.Logf("%s: %s: %s", s.Name, id, f.Rule)
						loose++
					}
				}
			}
		}
	}
	if loose*100 > 2*faults {
		t.Errorf("%d of %d faults do not stand on what they cite", loose, faults)
	}
}

// without gives a story's records without what a fault cites, or that alone, with events.
func without(records []*record.Record, f correlator.Fault, cited bool) (out []*record.Record) {
	for _, r := range records {
		switch is := slices.Contains(f.Evidence, record.Ref(r.Key())); {
		case cited && !is, !cited && (is || r.IsEvent()):
			out = append(out, r)
		}
	}
	return out
}

// judged are the verdicts on records, by allocation.
func judged(p *profile.Profile, records []*record.Record) map[string]correlator.Verdict {
	list := make([]*record.Record, len(records))
	for i, r := range records {
		one := *r // judging works records out; the story is judged again
		list[i] = &one
	}
	out := map[string]correlator.Verdict{}
	for _, a := range query.Analyze(correlator.NewDataset(list, nil, p, correlator.AsOf{}), rules.All()).Allocations {
		out[a.ID] = a.Verdict
	}
	return out
}
