package provided_test

import (
	"testing"
	"time"

	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/lab/provided"
)

func TestDeleteDuringProvision(t *testing.T) {
	for _, c := range []struct {
		kind, template string
		validations    int
	}{
		{"aap", "ocp_virt_vm", 6}, {"aap", hubsim.LateMachine, 6}, {"aap", hubsim.RunForever, 6}, {"aap", hubsim.IgnoreCancel, 6},
		{"eda", "ocp_virt_vm", 5}, {"eda", hubsim.NoAnnotation, 5},
	} {
		t.Run(c.kind+" "+c.template, func(t *testing.T) {
			p := start(t, func(f *provided.Config) {
				takes := func(_ string, deletes bool) time.Duration {
					if deletes {
						return 200 * time.Millisecond
					}
					return time.Second
				}
				f.AAP.Takes, f.EDA.Takes = takes, takes
			})
			d, err := p.DeleteDuringProvision(t.Context(), c.kind, c.template)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range d.Validations {
				if !v.OK {
					t.Errorf("%d %s: %s", v.Number, v.Name, v.Seen)
				}
			}
			if len(d.Validations) != c.validations || d.Passed != c.validations {
				t.Errorf("%d of %d, want %d", d.Passed, len(d.Validations), c.validations)
			}
		})
	}
}
