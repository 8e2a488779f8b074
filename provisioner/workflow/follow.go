package workflow

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

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
			d.engine.emitter.Log(ctx, telemetry.Info, fmt.Sprintf("cancel of %s: %s", j.Name(), answer), slog.String("cancel_answer", string(answer)))
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
	d.engine.emitter.Event(telemetry.Untraced(ctx), semconv.EventProviderPoll, attrs...)
	if err != nil { // what was known stays, whole; that it is old is said beside it
		d.complain(ctx, j, "poll", err)
		j.Failure = err.Error()
		if after := provider.RetryAfter(err); after > p.Traits().Poll && d.engine.store.Now().Before(j.Deadline) {
			return d.later(ctx, j, after)
		}
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
