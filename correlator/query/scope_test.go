package query

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
)

// owners are whose allocations are.
type owners map[string]string

func (o owners) LabelsOf(_ context.Context, allocation string) ([]Label, error) {
	if o[allocation] == "" {
		return nil, nil
	}
	return []Label{{Allocation: allocation, Name: LabelTenant, Value: o[allocation]}}, nil
}

// A rule may cite signs of life of other allocations: who may not see those is not shown them, in a timeline that is their own.
func TestATimelineHidesOthers(t *testing.T) {
	s := &Service{Labels: owners{"a-1": "blue", "a-2": "blue", "a-3": "red"}}
	a := correlator.Allocation{ID: "a-1"}
	for ref, allocation := range map[string]string{"own": "a-1", "nobody's": "", "of the same tenant": "a-2", "of another": "a-3", "of no tenant": "a-4"} {
		e := correlator.Entry{Ref: ref, IDs: map[string]string{}}
		if allocation != "" {
			e.IDs["allocation_id"] = allocation
		}
		a.Timeline = append(a.Timeline, e)
	}
	for name, c := range map[string]struct {
		ctx  context.Context
		want map[string]bool
	}{
		"all":  {t.Context(), map[string]bool{"own": true, "nobody's": true, "of the same tenant": true, "of another": true, "of no tenant": true}},
		"blue": {WithScope(t.Context(), OfTenants("blue")), map[string]bool{"own": true, "nobody's": true, "of the same tenant": true}},
	} {
		shown, err := s.hideOthers(c.ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, e := range shown.Timeline {
			have[e.Ref] = true
		}
		if d := cmp.Diff(c.want, have); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
