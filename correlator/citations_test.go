package correlator_test

import (
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Of what a fault cites, each sentence comes once before it comes again, and signs of life come last, whoever asked for them to be cited.
func TestCitationsAreReadFromTheTop(t *testing.T) {
	for _, s := range scenarios(t) {
		for _, a := range analyze(t, s.Records).Allocations {
			by := map[string]correlator.Entry{}
			for _, e := range a.Timeline {
				by[e.Ref] = e
			}
			for _, f := range a.Verdict.Faults {
				said := map[string]bool{}
				repeats, lives := false, false
				for _, ref := range f.Evidence {
					e, ok := by[ref]
					if !ok {
						continue
					}
					sentence := e.Source + " " + correlator.Template(e.Summary)
					switch {
					case e.Name == semconv.EventHeartbeat:
						lives = true
					case lives:
						t.Errorf("%s: %s: %q is cited after a sign of life", s.Name, f.Rule, e.Summary)
					case e.Kind != "log":
					case said[sentence]:
						repeats = true
					case repeats && len(f.Evidence) <= 50:
						t.Errorf("%s: %s: %q is cited after what says the same again", s.Name, f.Rule, e.Summary)
					}
					said[sentence] = true
				}
			}
		}
	}
}
