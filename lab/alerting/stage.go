package alerting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/lab"
)

// Lab is a platform that runs; *lab.Remote is one.
type Lab interface {
	Lives(ctx context.Context) ([]lab.Lived, error)
	Inject(ctx context.Context, o lab.Order) (lab.On, error)
	Heal(ctx context.Context, fault string) error
}

// Pager knows what fires; Alertmanager is one.
type Pager interface {
	Firing(ctx context.Context) ([]Alert, error)
}

// Stage is a lab that runs, and who would be called.
type Stage struct {
	Lab    Lab
	Pager  Pager
	Owners map[string]profile.Owner // of the layers
	Look   time.Duration            // between two looks
	Hold   time.Duration            // longest time for which a fault stays on
	Drain  time.Duration            // longest time for its alert to be resolved
}

// Result is what came of one fault.
type Result struct {
	Fault    string        `json:"fault"`
	Layer    string        `json:"layer"`
	Owner    string        `json:"owner"`
	Cost     time.Duration `json:"cost"`     // from the fault until it cost somebody something, as the lab knows; 0: nobody
	Fired    time.Duration `json:"fired"`    // from the fault to an alert with its owner; 0: none came
	Resolved time.Duration `json:"resolved"` // from its healing until no alert names its layer any more; 0: one still does
	Others   []string      `json:"others"`   // incidents of other layers that fired meanwhile, as layer (owner)
}

// OK says whether its owner was called, nobody else was, and the alert went.
func (r Result) OK() bool { return r.Fired > 0 && r.Resolved > 0 && len(r.Others) == 0 }

// Calm waits until so many allocations have come to their end as their stories go.
func (s *Stage) Calm(ctx context.Context, allocations int) error {
	begun := time.Now()
	for {
		lives, err := s.Lab.Lives(ctx)
		if err != nil {
			return err
		}
		well := 0
		for _, v := range lives {
			if v.Ended.After(begun) && v.AsWritten && v.Faults == 0 {
				well++
			}
		}
		if well >= allocations {
			return nil
		}
		if time.Since(begun) > 3*time.Minute {
			return fmt.Errorf("the lab is not well: %d of %d allocations came to their end in three minutes", well, allocations)
		}
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

// Quiet looks on for a while and gives what fired, each alert once as its name and layer.
func (s *Stage) Quiet(ctx context.Context, last time.Duration) (fired []string, err error) {
	for end := time.Now().Add(last); time.Now().Before(end); {
		all, err := s.Pager.Firing(ctx)
		if err != nil {
			return fired, err
		}
		for _, a := range all {
			if one := a.Name() + " " + a.Labels["layer"]; !slices.Contains(fired, one) {
				fired = append(fired, one)
			}
		}
		if err := s.pause(ctx); err != nil {
			return fired, err
		}
	}
	return fired, nil
}

// Run makes one fault, waits for its alert, heals it, and waits until the alert is gone.
func (s *Stage) Run(ctx context.Context, f lab.Fault) (Result, error) {
	r := Result{Fault: f.Name, Layer: f.Layer, Owner: s.Owners[f.Layer].Team, Others: []string{}}
	before, err := s.incidents(ctx) // what an earlier fault left behind
	if err != nil {
		return r, err
	}
	on, err := s.Lab.Inject(ctx, lab.Order{Name: f.Name})
	if err != nil {
		return r, err
	}
	_, err = s.until(ctx, s.Hold, before, &r, func(mine []Alert) bool {
		if r.Cost == 0 && s.cost(ctx, f, on) {
			r.Cost = time.Since(on.Since)
		}
		if len(mine) > 0 && r.Fired == 0 {
			r.Fired = time.Since(on.Since)
		}
		return r.Fired > 0
	})
	if e := s.Lab.Heal(context.WithoutCancel(ctx), f.Name); err == nil {
		err = e
	}
	if err != nil {
		return r, err
	}
	healed := time.Now()
	gone, err := s.until(ctx, s.Drain, before, &r, func(mine []Alert) bool { return len(mine) == 0 && r.Fired > 0 })
	if gone {
		r.Resolved = time.Since(healed)
	}
	return r, err
}

// cost says whether a fault has cost somebody a request, an end or time.
func (s *Stage) cost(ctx context.Context, f lab.Fault, on lab.On) bool {
	lives, err := s.Lab.Lives(ctx)
	return err == nil && slices.ContainsFunc(lives, func(v lab.Lived) bool { return v.Cost && v.Fault == f.Name && v.Since.Equal(on.Since) })
}

// incidents are those that fire.
func (s *Stage) incidents(ctx context.Context) (map[string]bool, error) {
	all, err := s.Pager.Firing(ctx)
	out := map[string]bool{}
	for _, a := range all {
		if a.incident() {
			out[a.Labels["incident_id"]] = true
		}
	}
	return out, err
}

// until looks at the incidents that fire and did not before, those of the fault's layer and owner and those of others, until enough was seen
// or the time is over.
func (s *Stage) until(ctx context.Context, most time.Duration, before map[string]bool, r *Result, enough func(mine []Alert) bool) (bool, error) {
	for end := time.Now().Add(most); time.Now().Before(end); {
		all, err := s.Pager.Firing(ctx)
		if err != nil {
			return false, err
		}
		var mine []Alert
		for _, a := range all {
			switch {
			case !a.incident() || before[a.Labels["incident_id"]]:
			case a.Labels["layer"] == r.Layer && a.Labels["owner"] == r.Owner:
				mine = append(mine, a)
			default:
				if one := a.Labels["layer"] + " (" + a.Labels["owner"] + ")"; !slices.Contains(r.Others, one) {
					r.Others = append(r.Others, one)
				}
			}
		}
		if enough(mine) {
			return true, nil
		}
		if err := s.pause(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (s *Stage) pause(ctx context.Context) error {
	t := time.NewTimer(s.Look)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
