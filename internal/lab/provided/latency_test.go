package provided_test

import (
	"math"
	"testing"

	"github.com/faultline-io/faultline/internal/lab/latency"
	"github.com/faultline-io/faultline/internal/lab/provided"
	"github.com/faultline-io/faultline/internal/otlpfile"
)

// Much faster than life, what the machine itself takes shows in the figures; that whole polls are measured,
// in both phases and from the file alone, shows all the same.
func TestMeasureLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	file, err := provided.MeasureLatency(t.Context(), t.TempDir(), 2, 0.03)
	must(t, err)
	samples := latency.NewSamples()
	r := otlpfile.Reader{Record: samples.Take, Reject: func(x otlpfile.Rejection) { t.Error(x) }}
	must(t, r.ReadFile(file))
	for provider, want := range map[string]float64{"aap": 136.6 + 109.4, "eda": 154 + 72} {
		all := samples.Of(provider, latency.Overall)
		if len(all) != 2 || math.Abs((all[0]+all[1])/2-want) > 0.15*want {
			t.Errorf("%s: %v, want %g on average", provider, all, want)
		}
	}
}
