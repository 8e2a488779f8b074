package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// faultRegistry holds the faults that are on, and remembers those that were.
type faultRegistry struct {
	injections []*injection
}

func (r *faultRegistry) on(name string) *injection {
	for _, i := range r.injections {
		if i.fault.Name == name && i.to.IsZero() {
			return i
		}
	}
	return nil
}

// Inject turns a fault on, until it is healed or its time is over; lasting 0 is until it is healed.
func (l *lab) Inject(name, pool string, lasting time.Duration) (*injection, error) {
	f, err := faultNamed(name)
	if err != nil {
		return nil, err
	}
	if err := l.can(f); err != nil {
		return nil, err
	}
	t, err := l.target(f, pool)
	if err != nil {
		return nil, err
	}
	l.injecting.Lock()
	defer l.injecting.Unlock()
	if l.faults.on(name) != nil {
		return nil, fmt.Errorf("%s is already on; faultline-lab heal %s ends it", name, name)
	}
	i := &injection{fault: f, target: t, from: time.Now()}
	if i.heal, err = f.inject(l, t); err != nil {
		return nil, fmt.Errorf("inject %s: %w", name, err)
	}
	l.mu.Lock()
	l.faults.injections = append(l.faults.injections, i)
	l.mu.Unlock()
	if lasting > 0 {
		i.timer = time.AfterFunc(lasting, func() {
			if err := l.Heal(name); err != nil && !errors.Is(err, errNotOn) {
				l.log.Error("heal", "fault", name, "error", err)
			}
		})
	}
	l.log.Info("fault injected", "fault", name, "nodes", t.nodes, "way", l.shown(i).Way, "for", lasting)
	return i, nil
}

var errNotOn = errors.New("it is not on")

// Heal ends a fault; "" ends all.
func (l *lab) Heal(name string) error {
	if name != "" {
		if _, err := faultNamed(name); err != nil {
			return err
		}
	}
	l.injecting.Lock()
	defer l.injecting.Unlock()
	var all []error
	found := false
	for _, i := range slices.Backward(l.faults.injections) {
		if !i.to.IsZero() || name != "" && i.fault.Name != name {
			continue
		}
		found = true
		if i.timer != nil {
			i.timer.Stop()
		}
		if err := i.heal(); err != nil {
			all = append(all, fmt.Errorf("heal %s: %w", i.fault.Name, err))
			continue
		}
		l.mu.Lock()
		i.to = time.Now()
		l.mu.Unlock()
		l.log.Info("fault healed", "fault", i.fault.Name)
	}
	if name != "" && !found {
		return fmt.Errorf("%s: %w", name, errNotOn)
	}
	return errors.Join(all...)
}

// can says what the fault needs and this lab has not.
func (l *lab) can(f Fault) error {
	if f.providers && !l.config.Providers {
		return fmt.Errorf("%s needs a lab with providers: true", f.Name)
	}
	if f.worker && l.config.ProvisionerFaults == "" {
		return fmt.Errorf("%s happens inside the provisioner, and this lab does not know where that listens for faults (provisioner_faults)", f.Name)
	}
	return nil
}

// target chooses what a fault is injected into: the first node of a pool, where it is a fault of nodes. An
// allocation is placed on the first free one, so that is the one most used.
func (l *lab) target(f Fault, pool string) (target, error) {
	if f.meets != byNode {
		if pool != "" {
			return target{}, fmt.Errorf("%s is not a fault of nodes: --pool makes no sense", f.Name)
		}
		return target{}, nil
	}
	if pool == "" {
		pool = poolGeneral
	}
	t := target{pool: pool}
	var pools []string
	for _, s := range l.specs {
		if s.pool == pool && len(t.nodes) == 0 {
			t.nodes = append(t.nodes, s.id)
		}
		if !slices.Contains(pools, s.pool) {
			pools = append(pools, s.pool)
		}
	}
	if len(t.nodes) == 0 {
		return t, fmt.Errorf("no node is in pool %q; pools are %v", pool, pools)
	}
	return t, nil
}

// injected gives the fault that an allocation met, whether it cost something, and how many it met.
func (l *lab) injected(v *life) (first *injection, cost bool, n int) {
	for _, i := range l.faults.injections {
		met, paid := i.met(v, l.config.scaled(normalLife), l.config.scaled(longestRetry*agentRetry)+agentTime)
		if !met {
			continue
		}
		if n++; first == nil || paid && !cost {
			first, cost = i, paid
		}
	}
	return first, cost, n
}

// healAtEnd ends what is on when the lab ends.
func (l *lab) healAtEnd(context.Context) {
	if err := errors.Join(l.Resume(), l.Heal("")); err != nil {
		l.log.Error("heal at the end", "error", err)
	}
}
