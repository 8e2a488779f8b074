package lab_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/lab"
)

// Every fault of the catalog is made by order, as faultline-lab inject does; shows in telemetry, as far as nothing else
// would; is healed; and what it hindered goes on.
func TestEveryFaultIsMadeAndHealed(t *testing.T) {
	known := map[string]bool{}
	for _, family := range faultSigns {
		for name := range family {
			known[name] = true
		}
	}
	for _, f := range lab.Faults() {
		if !known[f.Name] {
			t.Errorf("%s: nobody has said how it shows", f.Name)
		}
		delete(known, f.Name)
	}
	for name := range known {
		t.Errorf("%s is no fault", name)
	}
	var work sync.WaitGroup // not subtests: they wait much, and would be two at a time
	for i, family := range faultSigns {
		work.Go(func() { familyIsMadeAndHealed(t, family, i == 2) })
	}
	work.Wait()
}

func familyIsMadeAndHealed(t *testing.T, family map[string][2]sign, providers bool) {
	s := newStage(t, 0.2)
	s.withFaults(t, providers)
	stop := s.run(t)
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- lab.Run(ctx, s.lab, s.log) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	telemetry := tail{file: s.export}
	until := func(what string, from time.Time, is sign) bool {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if is(telemetry.since(t, from)) {
				return true
			}
		}
		t.Errorf("not within a minute: %s", what)
		return false
	}
	well := worked
	if providers {
		well = aapSucceed
	}
	if !until("work begins", time.Time{}, well) {
		return
	}
	remote, err := lab.Dial(s.lab.Data)
	if err != nil {
		t.Error(err)
		return
	}
	defer remote.Close()
	for _, f := range lab.Faults() {
		signs, mine := family[f.Name]
		if !mine {
			continue
		}
		began := time.Now()
		if _, err := remote.Inject(ctx, lab.Order{Name: f.Name}); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if on, err := remote.On(ctx); err != nil || len(on) != 1 || on[0].Name != f.Name {
			t.Errorf("%s is made, and on are %v, %v", f.Name, on, err)
		}
		shown := until(f.Name+" shows", began, signs[0])
		showed := time.Now()
		if err := remote.Heal(ctx, f.Name); err != nil {
			t.Errorf("heal %s: %v", f.Name, err)
		}
		if on, err := remote.On(ctx); err != nil || len(on) != 0 {
			t.Errorf("%s is healed, and on are %v, %v", f.Name, on, err)
		}
		healed := time.Now()
		ended := until(f.Name+" is healed", healed, signs[1])
		t.Logf("%-28s shows %t after %5.1f s, healed in %4.1f s, well %t after %5.1f s", f.Name, shown, showed.Sub(began).Seconds(), healed.Sub(showed).Seconds(), ended, time.Since(healed).Seconds())
	}
}

// withFaults has the stage's provisioner take faults of its own, and its lab run providers.
func (s *stage) withFaults(t *testing.T, providers bool) {
	t.Helper()
	addresses := freePorts(t, 4)
	c := &s.lab
	c.ProvisionerFaults, c.Providers, c.Hub, c.AAP, c.EDA = addresses[0], providers, addresses[1], addresses[2], addresses[3]
	c.Network, c.Nodes, c.Every, c.Open, c.Stories = "proxy", 3, 2*time.Second, 6, []string{"healthy"}
	if providers {
		c.Stories = []string{"aap_healthy", "aap_cancel", "eda_healthy"}
	}
	c.Telemetry.Flush = 50 * time.Millisecond
	old := s.provisioner
	s.provisioner = lab.ProvisionerConfig(*c)
	s.provisioner.Telemetry = old.Telemetry
	s.provisioner.Telemetry.Flush = c.Telemetry.Flush
	s.provisioner.Control, s.provisioner.Node, s.provisioner.Ops, s.provisioner.Grace = old.Control, old.Node, old.Ops, old.Grace
}
