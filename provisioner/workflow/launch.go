package workflow

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

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
	callCtx, span := d.engine.emitter.Start(ctx, "launch "+j.Identity.Provider+" "+j.Operation, telemetry.Internal, slog.String(semconv.Operation, j.Operation))
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
		d.engine.emitter.Log(ctx, telemetry.Warn, fmt.Sprintf("adopted %s job %s of a launch that was not answered", j.Identity.Provider, l.ID))
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
