package workflow

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// driver does what jobs of providers want, outside of transactions: a provider may be slow. It leases a
// job, makes the calls that are due, and writes what they gave; a driver that dies in between leaves a
// job whose launch may have happened, and the next one looks for it before it launches anything.
type driver struct {
	engine *Engine
	wake   chan struct{}
	known  map[provider.Identity]provider.Provider
	pools  map[string]provider.Identity
}

// visits is the number of jobs that are looked at at one time.
const visits = 16

// Use has a provider do the work for allocations of the pools. Call it before Run.
func (e *Engine) Use(p provider.Provider, pools ...string) {
	e.driver.known[p.Identity()] = p
	for _, pool := range pools {
		e.driver.pools[pool] = p.Identity()
	}
}

func newDriver(e *Engine) *driver {
	return &driver{engine: e, wake: make(chan struct{}, 1), known: map[provider.Identity]provider.Provider{}, pools: map[string]provider.Identity{}}
}

// wakeUp has run look for due jobs.
func (d *driver) wakeUp() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// run visits due jobs until ctx ends, then waits for the visits.
func (d *driver) run(ctx context.Context) {
	if len(d.known) == 0 {
		return
	}
	var busy sync.WaitGroup
	defer busy.Wait()
	room := make(chan struct{}, visits)
	for ctx.Err() == nil { // a job that is leased when ctx ends is given back
		due, next, err := d.due(ctx)
		if err != nil && ctx.Err() == nil {
			d.engine.log.Error("read due provider jobs", "error", err)
		}
		for _, j := range due {
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				d.giveBack(ctx, j)
				continue
			}
			busy.Go(func() {
				defer func() { <-room }()
				err := d.visit(ctx, j)
				switch {
				case ctx.Err() != nil:
					d.giveBack(ctx, j)
				case err != nil:
					d.engine.log.Error("provider job", "job", j.Key, "error", err)
				}
			})
		}
		wait := d.engine.config.Tick
		if !next.IsZero() {
			wait = max(0, min(wait, next.Sub(d.engine.store.Now())))
		}
		select {
		case <-ctx.Done():
		case <-d.wake:
		case <-time.After(wait):
		}
	}
}

// giveBack leaves a job to whoever looks next, not after the lease is over: a driver that is told to stop is no driver that died. Where
// the visit has saved the job this changes nothing.
func (d *driver) giveBack(ctx context.Context, j store.ProviderJob) {
	err := d.engine.store.Update(context.WithoutCancel(ctx), "give back provider job", func(t *store.Tx) error { return t.GiveBackProviderJob(j) })
	if err != nil {
		d.engine.log.Error("give back provider job", "job", j.Key, "error", err)
	}
}

// due leases what is due.
func (d *driver) due(ctx context.Context) (mine []store.ProviderJob, next time.Time, err error) {
	var all []store.ProviderJob
	if err = d.engine.store.View(ctx, "due provider jobs", func(t *store.Tx) (err error) {
		all, next, err = t.DueProviderJobs(visits)
		return err
	}); err != nil || len(all) == 0 {
		return nil, next, err
	}
	err = d.engine.store.Update(ctx, "lease provider jobs", func(t *store.Tx) error {
		mine = mine[:0]
		for _, j := range all {
			ok, err := t.LeaseProviderJob(&j, telemetry.NewID("d"), t.Now().Add(d.engine.config.JobLease))
			if err != nil {
				return err
			}
			if ok {
				mine = append(mine, j)
			}
		}
		return nil
	})
	return mine, next, err
}

// complain is the one line about a call that failed.
func (d *driver) complain(ctx context.Context, j store.ProviderJob, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	d.engine.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("%s %s: %s: %v", j.Identity.Provider, j.Operation, what, err),
		slog.String(semconv.Provider, j.Identity.Provider), slog.String(semconv.ErrorType, string(provider.KindOf(err))))
}

func (d *driver) later(ctx context.Context, j store.ProviderJob, wait time.Duration) error {
	j.DueAt = d.engine.store.Now().Add(wait)
	_, err := d.save(ctx, &j)
	d.wakeUp()
	return err
}

func (d *driver) end(ctx context.Context, j store.ProviderJob) error {
	j.Phase = store.JobEnded
	_, err := d.save(ctx, &j)
	return err
}

// save writes although ctx has ended: what a provider has answered must not be forgotten.
func (d *driver) save(ctx context.Context, j *store.ProviderJob) (ok bool, err error) {
	var saved store.ProviderJob
	err = d.engine.store.Update(context.WithoutCancel(ctx), "save provider job", func(t *store.Tx) error {
		saved = *j // a transaction that is run again begins anew
		ok, err = t.SaveProviderJob(&saved)
		return err
	})
	if err == nil {
		*j = saved
	}
	return ok, err
}

// request is what the job's launch asks for.
func (d *driver) request(ctx context.Context, j store.ProviderJob) (r provider.Request, err error) {
	err = d.engine.store.View(ctx, "read allocation", func(t *store.Tx) error {
		a, err := t.Allocation(j.AllocationID)
		r = provider.Request{
			Key: j.Key, AllocationID: a.ID, Operation: j.Operation, ConfigVersion: j.ConfigVersion, Pool: a.Pool, Template: a.Image, RequestedBy: a.RequestedBy,
		}
		return err
	})
	return r, err
}

func (d *driver) job(ctx context.Context, j store.ProviderJob) (provider.Job, error) {
	r, err := d.request(ctx, j)
	return provider.Job{Request: r, ID: j.JobID, Kind: j.Kind, Age: d.engine.store.Now().Sub(j.LaunchedAt)}, err
}
