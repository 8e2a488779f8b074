package correlator_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
)

// The reasoning tells the verdict's own story: the same verdict comes out, every fault's rule was kept for
// some trouble, and whatever was not kept says why.
func TestReasoningTellsTheVerdict(t *testing.T) {
	for _, s := range scenarios(t) {
		g := correlator.NewDataset(copies(s.Records), nil, defaultProfile(t), correlator.AsOf{})
		for _, c := range g.Cases() {
			v, why := correlator.Explain(c, rules.All())
			a, _ := json.Marshal(v)
			if b, _ := json.Marshal(correlator.Judge(c, rules.All())); string(a) != string(b) {
				t.Errorf("%s: asking for reasons changes the verdict of %s", s.Name, c.ID)
			}
			var kept []string
			for _, d := range why.Troubles {
				if d.Ruling == "" || d.Because == "" || d.Trouble == "" {
					t.Errorf("%s: no ruling on %+v", s.Name, d)
				}
				for _, x := range d.Considered {
					if x.Kept {
						kept = append(kept, x.Rule)
					} else if x.Because == "" {
						t.Errorf("%s: %s was dropped without a reason", s.Name, x.Rule)
					}
				}
			}
			for _, f := range v.Faults {
				if !slices.Contains(kept, f.Rule) {
					t.Errorf("%s: nothing says how %s came about", s.Name, f.Rule)
				}
			}
		}
	}
}
