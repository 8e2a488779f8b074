package provided_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/lab/latency"
	"github.com/faultline-io/faultline/lab/provided"
)

// What is planned for three runs solves the figures that were measured in life: the means to half a second, and what
// EDA takes more or less than AAP within one point.
func TestPlannedLatency(t *testing.T) {
	aap, eda := provided.Planned("aap", 3), provided.Planned("eda", 3)
	for phase, want := range map[string]struct{ aap, eda, percent float64 }{
		latency.Overall: {266, 232, -12.8}, latency.Provision: {151.6, 158, 4.2}, latency.Deprovision: {114.4, 74, -35.3},
	} {
		a, e := stat.Mean(aap[phase], nil), stat.Mean(eda[phase], nil)
		if percent := 100 * (e - a) / a; math.Abs(a-want.aap) > 0.5 || math.Abs(e-want.eda) > 0.5 || math.Abs(percent-want.percent) > 1 {
			t.Errorf("%s: aap %.1f s, eda %.1f s, %+.1f %%, want %+v", phase, a, e, percent, want)
		}
	}
}

// Much faster than life, what the machine itself takes shows in the figures; that whole polls are measured,
// in both phases and from the file alone, shows all the same: no phase is off by more than one poll of AAP's.
func TestMeasureLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	const runs = 2
	file, err := provided.MeasureLatency(t.Context(), t.TempDir(), runs, 0.03)
	must(t, err)
	samples := latency.NewSamples()
	r := otlpfile.Reader{Record: samples.Take, Reject: func(x otlpfile.Rejection) { t.Error(x) }}
	must(t, r.ReadFile(file))
	for _, provider := range []string{"aap", "eda"} {
		planned := provided.Planned(provider, runs)
		for _, phase := range latency.Phases() {
			all, off := samples.Of(provider, phase), 30.0
			if phase == latency.Overall {
				off = 0.15 * stat.Mean(planned[phase], nil)
			}
			if len(all) != runs || math.Abs(stat.Mean(all, nil)-stat.Mean(planned[phase], nil)) > off {
				t.Errorf("%s, %s: %v, planned are %v", provider, phase, all, planned[phase])
			}
		}
	}
}
