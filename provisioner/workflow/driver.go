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

// projections is how often a view is written before it is left behind; the next change writes it again.
const projections = 3

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

// nudge says that a job may be due.
func (d *driver) nudge() {
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
	for ctx.Err() == nil {
		due, next, err := d.due(ctx)
		if err != nil && ctx.Err() == nil {
			d.engine.log.Error("read due provider jobs", "error", err)
		}
		for _, j := range due {
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			busy.Go(func() {
				defer func() { <-room }()
				if err := d.visit(ctx, j); err != nil && ctx.Err() == nil {
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

// visit does the one thing that is next for a job. The error is one of writing.
func (d *driver) visit(ctx context.Context, j store.ProviderJob) error {
	p := d.known[j.Identity]
	if p == nil {
		j.Failure = fmt.Sprintf("no provider %s/%s is configured", j.Identity.Provider, j.Identity.Instance)
		return d.later(ctx, j, d.engine.config.Tick)
	}
	ctx = j.Context(ctx)
	switch {
	case j.Phase == store.JobWanted && !j.CancelAt.IsZero():
		j.Status = provider.Status{State: provider.Canceled, Message: "canceled before it was launched", Result: provider.Lost}
		return d.end(ctx, j)
	case j.Phase == store.JobWanted:
		return d.launch(ctx, p, j)
	case j.Phase == store.JobLaunching:
		return d.adopt(ctx, p, j)
	}
	return d.follow(ctx, p, j)
}

// launch writes that it is about to launch, launches, and writes what came of it.
func (d *driver) launch(ctx context.Context, p provider.Provider, j store.ProviderJob) error {
	r, err := d.request(ctx, j)
	if err != nil {
		return err
	}
	j.Phase, j.LaunchedAt = store.JobLaunching, d.engine.store.Now()
	var mine bool
	if err := d.engine.store.Update(ctx, "launch provider job", func(t *store.Tx) (err error) {
		mine, err = t.LaunchProviderJob(j)
		return err
	}); err != nil || !mine {
		return err
	}
	callCtx, span := d.engine.says.Start(ctx, "launch "+j.Identity.Provider+" "+j.Operation, telemetry.Internal, slog.String(semconv.Operation, j.Operation))
	l, err := p.Launch(callCtx, r)
	span.Fail(err, string(provider.KindOf(err)))
	span.End()
	switch {
	case err == nil:
		return d.launched(ctx, p, j, l)
	case ctx.Err() != nil: // the driver ends; whether it was launched, the next one finds out
		return d.later(ctx, j, 0)
	case provider.Ambiguous(err):
		j.Failure = err.Error()
		d.complain(ctx, j, "launch, outcome unknown", err)
		return d.later(ctx, j, p.Traits().Poll)
	}
	d.complain(ctx, j, "launch", err)
	j.Phase, j.Failure = store.JobWanted, err.Error()
	if provider.KindOf(err) != provider.RateLimited {
		j.Tries++
	}
	if j.Tries >= d.engine.config.Launches || !d.engine.store.Now().Before(j.Deadline) {
		j.Status = provider.Status{State: provider.Failed, Raw: "not launched", Message: "not launched: " + err.Error(), Explanation: err.Error(), Result: provider.Lost}
		return d.end(ctx, j)
	}
	return d.later(ctx, j, max(d.engine.config.RetryWait, provider.RetryAfter(err)))
}

func (d *driver) launched(ctx context.Context, p provider.Provider, j store.ProviderJob, l provider.Launch) error {
	j.Phase, j.JobID, j.Kind, j.Status, j.Failure = store.JobFollowing, l.ID, l.Kind, l.Status, ""
	ctx = j.Context(ctx)
	telemetry.Current(ctx).Set(slog.String(semconv.ProviderJob, j.Name()))
	if l.Status.Result != provider.Open {
		return d.end(ctx, j)
	}
	d.project(ctx, p, j)
	return d.later(ctx, j, p.Traits().Poll)
}

// adopt looks for the job that an earlier launch may have started. Only where the provider is sure that
// there is none, and the request can no longer be on its way, is it launched anew. A provider that
// cannot say counts as launched: twice is worse than late.
func (d *driver) adopt(ctx context.Context, p provider.Provider, j store.ProviderJob) error {
	r, err := d.request(ctx, j)
	if err != nil {
		return err
	}
	l, found, sure, err := p.Adopt(ctx, r, j.LaunchedAt)
	settled := d.engine.store.Now().Sub(j.LaunchedAt) >= p.Traits().Settle
	switch {
	case ctx.Err() != nil:
		return d.later(ctx, j, 0)
	case err != nil:
		d.complain(ctx, j, "look for a launched job", err)
		j.Failure = err.Error()
	case found, !sure && settled && l.ID != "":
		d.engine.says.Log(ctx, telemetry.Warn, fmt.Sprintf("adopted %s job %s of a launch that was not answered", j.Identity.Provider, l.ID))
		return d.launched(ctx, p, j, l)
	case sure && settled:
		j.Phase = store.JobWanted
		return d.later(ctx, j, 0)
	}
	if !d.engine.store.Now().Before(j.Deadline) {
		j.Status = provider.Status{State: provider.Unknown, Message: "launch without an answer: " + j.Failure, Explanation: j.Failure, Result: provider.Lost}
		return d.end(ctx, j)
	}
	return d.later(ctx, j, p.Traits().Poll)
}

// follow asks for the job's end where that is wanted, then how it stands.
func (d *driver) follow(ctx context.Context, p provider.Provider, j store.ProviderJob) error {
	job, err := d.job(ctx, j)
	if err != nil {
		return err
	}
	if !j.CancelAt.IsZero() && j.CancelAnswer == "" && p.Traits().Cancels {
		answer, err := p.Cancel(ctx, job)
		if err != nil {
			d.complain(ctx, j, "cancel", err)
		} else {
			j.CancelAnswer = answer
			d.engine.says.Log(ctx, telemetry.Info, fmt.Sprintf("cancel of %s: %s", j.Name(), answer), slog.String("cancel_answer", string(answer)))
		}
	}
	before := j.Status
	s, err := p.Poll(ctx, job)
	if ctx.Err() != nil {
		return d.later(ctx, j, 0)
	}
	attrs := []slog.Attr{slog.Bool(semconv.PollOK, err == nil), slog.String(semconv.Provider, j.Identity.Provider)}
	if err != nil {
		attrs = append(attrs, slog.String(semconv.Error, err.Error()))
	}
	d.engine.says.Event(telemetry.Untraced(ctx), semconv.EventProviderPoll, attrs...)
	if err != nil { // what was known stays, whole; that it is old is said beside it
		d.complain(ctx, j, "poll", err)
		j.Failure = err.Error()
	} else {
		j.Status, j.Failure, j.PolledAt = s, "", d.engine.store.Now()
	}
	if !j.CancelAt.IsZero() && !p.Traits().Cancels && j.Operation == provider.Provision && j.Status.Result == provider.Open {
		j.Status.Result = provider.Lost // nobody can stop it, and nobody waits for it any more
		if !j.Status.State.Terminal() && j.Status.State != provider.Unknown {
			j.Status = provider.Status{State: provider.Unknown, Raw: j.Status.Raw, Message: "left to itself: it cannot be canceled", Result: provider.Lost}
		}
	}
	if j.Status != before {
		d.project(ctx, p, j)
	}
	if j.Status.Result != provider.Open {
		return d.end(ctx, j)
	}
	return d.overdue(ctx, p, j)
}

// overdue ends the patience with a job: first by a cancel, where there is one, then by giving up on it.
func (d *driver) overdue(ctx context.Context, p provider.Provider, j store.ProviderJob) error {
	now, c := d.engine.store.Now(), d.engine.config
	switch {
	case !j.CancelAt.IsZero() && now.Sub(j.CancelAt) >= c.CancelTime:
		j.Status.Result = provider.Lost
		j.Status.Explanation = fmt.Sprintf("cancel answered %q %s ago, and the job goes on", j.CancelAnswer, now.Sub(j.CancelAt).Round(time.Second))
	case j.CancelAt.IsZero() && !now.Before(j.Deadline) && p.Traits().Cancels && !j.Status.State.Terminal():
		j.CancelAt = now
		return d.later(ctx, j, 0)
	case j.CancelAt.IsZero() && !now.Before(j.Deadline):
		j.Status.Result = provider.Lost
		j.Status.Explanation = fmt.Sprintf("still %s after %s", j.Status.State, now.Sub(j.CreatedAt).Round(time.Second))
	default: // a poll later than the last one was due, however long that one took
		if wait := j.Scheduled.Add(p.Traits().Poll).Sub(now); wait > 0 {
			return d.later(ctx, j, wait)
		}
		return d.later(ctx, j, p.Traits().Poll)
	}
	if j.Failure != "" {
		j.Status.Explanation += "; last call: " + j.Failure
	}
	j.Status.Message = j.Status.Raw + ": " + j.Status.Explanation
	d.project(ctx, p, j)
	return d.end(ctx, j)
}

// project shows the job on the resource, and tells what is then shown.
func (d *driver) project(ctx context.Context, p provider.Provider, j store.ProviderJob) {
	job, err := d.job(ctx, j)
	if err != nil {
		return
	}
	ctx, span := d.engine.says.Start(ctx, "project "+j.Name(), telemetry.Internal)
	defer span.End()
	var shown provider.Status
	for range projections {
		if shown, err = p.Project(ctx, job, j.Status); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		span.Fail(err, string(provider.KindOf(err)))
		d.complain(ctx, j, "project", err)
		return
	}
	now := d.engine.store.Now()
	for field, value := range map[string]string{"job_state": string(shown.State), "message": shown.Message} {
		d.engine.says.Event(ctx, semconv.EventProjection, slog.String(semconv.Projection, "cr"), slog.String(semconv.Field, field),
			slog.String(semconv.Value, value), slog.Time(semconv.AsOf, now))
	}
}

// complain is the one line about a call that failed.
func (d *driver) complain(ctx context.Context, j store.ProviderJob, what string, err error) {
	if ctx.Err() != nil {
		return
	}
	d.engine.says.Log(ctx, telemetry.Error, fmt.Sprintf("%s %s: %s: %v", j.Identity.Provider, j.Operation, what, err),
		slog.String(semconv.Provider, j.Identity.Provider), slog.String(semconv.ErrorType, string(provider.KindOf(err))))
}

func (d *driver) later(ctx context.Context, j store.ProviderJob, wait time.Duration) error {
	j.DueAt = d.engine.store.Now().Add(wait)
	_, err := d.save(ctx, &j)
	d.nudge()
	return err
}

func (d *driver) end(ctx context.Context, j store.ProviderJob) error {
	j.Phase = store.JobEnded
	_, err := d.save(ctx, &j)
	return err
}

// save writes although ctx has ended: what a provider has answered must not be forgotten.
func (d *driver) save(ctx context.Context, j *store.ProviderJob) (ok bool, err error) {
	err = d.engine.store.Update(context.WithoutCancel(ctx), "save provider job", func(t *store.Tx) error {
		ok, err = t.SaveProviderJob(j)
		return err
	})
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
	return provider.Job{Request: r, ID: j.JobID, Kind: j.Kind}, err
}
