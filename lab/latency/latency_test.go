package latency

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// event is one record at a number of seconds.
func event(name, id, key, value string, at float64) *record.Record {
	return &record.Record{Signal: record.Log, Name: name, Time: int64(at * float64(time.Second)), Attrs: record.FromMap(map[string]string{semconv.AllocationID: id, key: value})}
}

// lived is an allocation that took so long to come and to go.
func lived(id, provider string, up, down float64) []*record.Record {
	return []*record.Record{
		event(semconv.EventAllocationState, id, semconv.To, semconv.Requested, 1000),
		event(semconv.EventProviderState, id, semconv.Provider, provider, 1001),
		event(semconv.EventAllocationState, id, semconv.To, semconv.Active, 1000+up),
		event(semconv.EventAllocationState, id, semconv.To, semconv.Releasing, 2000),
		event(semconv.EventAllocationState, id, semconv.To, semconv.Released, 2000+down),
	}
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// The reference is worked by hand: 10, 12, 14 against 15, 17, 22 give t = 6/√(4/3+13/3) = 2.5205 with
// 3.124 degrees of freedom.
func TestCompare(t *testing.T) {
	s := NewSamples()
	var all []*record.Record
	for i, up := range []float64{10, 12, 14} {
		all = append(all, lived(fmt.Sprint("a", i), "aap", up, 5)...)
	}
	for i, up := range []float64{15, 17, 22} {
		all = append(all, lived(fmt.Sprint("e", i), "eda", up, 5)...)
	}
	slices.Reverse(all) // order doesn't matter
	for _, r := range append(all, all...) {
		s.Take(r)
	}
	c := Compare(s, Provision, "aap", "eda")
	near(t, "mean", c.Base.Mean, 12, 1e-9)
	near(t, "deviation", c.Other.Deviation, math.Sqrt(13), 1e-9)
	near(t, "percent", c.Percent, 50, 1e-9)
	near(t, "p", c.P, 0.08280, 1e-4)
	if c.Base.Runs != 3 || c.Significant || c.Low > 0 || c.High < 100 {
		t.Errorf("%+v", c)
	}
	if c := Compare(s, Deprovision, "aap", "eda"); c.Significant || c.P != 1 {
		t.Errorf("no spread: %+v", c)
	}
	if c := Compare(s, Provision, "aap", "maas"); c.Significant || c.Meaning == "" {
		t.Errorf("no runs: %+v", c)
	}
}

func TestScaleAndUnfinished(t *testing.T) {
	s := NewSamples()
	for _, r := range lived("a", "aap", 15.16, 11.44) {
		s.Take(r)
	}
	for _, r := range lived("b", "aap", 1, 1)[:3] {
		s.Take(r)
	}
	s.Take(&record.Record{Attrs: record.FromMap(map[string]string{ScaleKey: "0.1"})})
	if up, all := s.Of("aap", Provision), s.Of("aap", Overall); len(up) != 2 || len(all) != 1 {
		t.Fatal(up, all)
	}
	near(t, "provision", s.Of("aap", Provision)[1], 151.6, 1e-6)
	near(t, "overall", s.Of("aap", Overall)[0], 266, 1e-6)
}
