package correlator_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/story"
)

// What a desk says after records came one by one, in any order, some of them twice, is what reading the
// whole story says.
func TestADeskSaysWhatTheWholeStorySays(t *testing.T) {
	all, err := story.Load("testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for n, s := range all {
		want := map[string]correlator.Standing{}
		for _, one := range correlator.Gather(copies(s.Records), nil, p, correlator.Moment{}).Standings(rules.All()) {
			want[one.ID] = one
		}
		r := rand.New(rand.NewPCG(uint64(n), 3)) //nolint:gosec // a test's order
		desk := correlator.NewDesk(p, rules.All(), correlator.DefaultDeskOptions())
		records := copies(s.Records)
		if n%3 != 0 {
			r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		}
		records = append(records, copies(s.Records[:len(s.Records)/10])...)
		for len(records) > 0 {
			k := min(len(records), 1+r.IntN(5))
			for _, id := range desk.Take(records[:k], nil) {
				desk.Judge(id, 0) // somebody looks in between
			}
			records = records[k:]
		}
		for id, one := range want {
			got, _, ok := desk.Judge(id, 0)
			if !ok {
				t.Errorf("%s: %s is not on the desk", s.Name, id)
				continue
			}
			compared++
			if d := cmp.Diff(one.Essence(), got.Essence()); d != "" {
				t.Errorf("%s: %s: the whole story (-) and the desk (+):\n%s", s.Name, id, d)
			}
		}
	}
	if compared < len(all) {
		t.Errorf("%d verdicts of %d stories compared", compared, len(all))
	}
}
