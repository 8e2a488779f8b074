package alerting

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator/notify"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/lab"
)

// platform is one whose alerts follow its fault after a while.
type platform struct {
	on, healed time.Time
	after      time.Duration // from fault to alert, from healing to its end
	layers     []string      // of the alerts
	left       bool          // an earlier fault left an alert behind
}

func (p *platform) Lives(context.Context) ([]lab.Lived, error) {
	if !p.on.IsZero() && time.Since(p.on) >= 2*time.Second {
		return []lab.Lived{{Fault: "cert_expired", Since: p.on, Cost: true}}, nil
	}
	return []lab.Lived{{Ended: time.Now(), AsWritten: true}, {Ended: time.Now().Add(-time.Hour), AsWritten: true}, {Ended: time.Now()}}, nil
}

func (p *platform) Inject(context.Context, lab.Order) (lab.On, error) {
	p.on = time.Now()
	return lab.On{Since: p.on}, nil
}

func (p *platform) Heal(context.Context, string) error {
	p.healed = time.Now()
	return nil
}

func (p *platform) Firing(context.Context) (out []Alert, err error) {
	if p.left {
		out = []Alert{{Labels: map[string]string{"alertname": notify.AlertName, "incident_id": "i-before", "layer": "cert", "owner": "team cert"}}}
	}
	if p.on.IsZero() || time.Since(p.on) < p.after || !p.healed.IsZero() && time.Since(p.healed) >= p.after {
		return out, nil
	}
	for _, layer := range p.layers {
		out = append(out, Alert{Labels: map[string]string{"alertname": notify.AlertName, "layer": layer, "owner": "team " + layer, "incident_id": "i-" + layer}})
	}
	return append(out, Alert{Labels: map[string]string{"alertname": "FaultlineLayerSilent", "layer": "db"}}), nil
}

func TestStage(t *testing.T) {
	f := func(name string, p *platform, want Result) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := Stage{
				Lab: p, Pager: p, Owners: map[string]profile.Owner{"cert": {Team: "team cert"}}, Look: time.Second, Hold: time.Minute, Drain: time.Minute,
			}
			got, err := s.Run(t.Context(), lab.Fault{Name: "cert_expired", Layer: "cert"})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		})
	}
	result := func(fired, resolved time.Duration, others ...string) Result {
		return Result{Fault: "cert_expired", Layer: "cert", Owner: "team cert", Cost: 2 * time.Second, Fired: fired, Resolved: resolved, Others: append([]string{}, others...)}
	}
	f("the owner is called, and the alert goes", &platform{after: 5 * time.Second, layers: []string{"cert"}}, result(5*time.Second, 5*time.Second))
	f("one of an earlier fault does not count", &platform{after: 5 * time.Second, layers: []string{"cert"}, left: true}, result(5*time.Second, 5*time.Second))
	f("somebody else is called, too", &platform{after: 5 * time.Second, layers: []string{"cert", "api"}}, result(5*time.Second, 5*time.Second, "api (team api)"))
	f("somebody else is called", &platform{after: 5 * time.Second, layers: []string{"api"}}, result(0, 0, "api (team api)"))
	f("too late", &platform{after: 2 * time.Minute, layers: []string{"cert"}}, result(0, 0))
}

func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &platform{on: time.Now(), after: 10 * time.Second, layers: []string{"cert"}}
		s := Stage{Lab: p, Pager: p, Look: time.Second}
		if err := s.Calm(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		fired, err := s.Quiet(t.Context(), 5*time.Second)
		if err != nil || len(fired) != 0 {
			t.Errorf("%v %v", fired, err)
		}
		fired, err = s.Quiet(t.Context(), 20*time.Second)
		if d := cmp.Diff([]string{notify.AlertName + " cert", "FaultlineLayerSilent db"}, fired); d != "" || err != nil {
			t.Error(d, err)
		}
		if err := s.Calm(t.Context(), 2); err == nil {
			t.Error("one that ended before and one that did not end as written count")
		}
	})
}
