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

// SubjectProjection is that of messages which want an allocation's view written anew.
const SubjectProjection = "projection.requested"

const (
	viewResource = "cr" // the one view that the provisioner itself writes: its resource at the hub
	// projections is how often a view is written before it is left behind; the next change writes it again.
	projections = 3
	// projectTime bounds a view that is written for a message: others wait behind it.
	projectTime = 10 * time.Second
)

// project writes the job's state on the resource, and emits what then stands there. What becomes of it is written down:
// a view that cannot be written is somebody's to repair.
func (d *driver) project(ctx context.Context, p provider.Provider, j store.ProviderJob) {
	_ = d.show(ctx, p, j) // the error was logged, and stands in the table
}

func (d *driver) show(ctx context.Context, p provider.Provider, j store.ProviderJob) error {
	job, err := d.job(ctx, j)
	if err != nil {
		return err
	}
	ctx, span := d.engine.emitter.Start(ctx, "project "+j.Name(), telemetry.Internal)
	defer span.End()
	var shown provider.Status
	for range projections {
		if shown, err = p.Project(ctx, job, j.Status); err == nil || ctx.Err() != nil {
			break
		}
	}
	view := store.Projection{AllocationID: j.AllocationID, Name: viewResource, Shown: string(shown.State)}
	if err != nil {
		span.Fail(err, string(provider.KindOf(err)))
		d.complain(ctx, j, "project", err)
		view.Failure = err.Error()
		return d.note(ctx, view, err)
	}
	now := d.engine.store.Now()
	for field, value := range map[string]string{"job_state": string(shown.State), "message": shown.Message} {
		d.engine.emitter.Event(ctx, semconv.EventProjection, slog.String(semconv.Projection, viewResource), slog.String(semconv.Field, field),
			slog.String(semconv.Value, value), slog.Time(semconv.AsOf, now))
	}
	return d.note(ctx, view, nil)
}

// note writes what became of a view; the error is the view's own, or that of writing.
func (d *driver) note(ctx context.Context, view store.Projection, failure error) error {
	err := d.engine.store.Update(context.WithoutCancel(ctx), "note projection", func(t *store.Tx) error { return t.PutProjection(view) })
	if err != nil {
		d.engine.log.Error("note projection", "allocation_id", view.AllocationID, "error", err)
	}
	if failure != nil {
		return failure
	}
	return err
}

// reproject writes the view of an allocation's newest job again. Allocations on nodes of the inventory
// have no view of ours.
func (e *Engine) reproject(ctx context.Context, allocation string) error {
	var jobs []store.ProviderJob
	if err := e.store.View(ctx, "jobs of allocation", func(t *store.Tx) (err error) {
		jobs, err = t.ProviderJobs(allocation)
		return err
	}); err != nil {
		return err
	}
	for i := len(jobs) - 1; i >= 0; i-- {
		j := jobs[i]
		if j.JobID == "" {
			continue
		}
		p := e.driver.known[j.Identity]
		if p == nil {
			return fmt.Errorf("project %s: provider %s %s is not configured", j.Name(), j.Identity.Provider, j.Identity.Instance)
		}
		ctx, cancel := context.WithTimeout(ctx, projectTime)
		defer cancel()
		return e.driver.show(ctx, p, j)
	}
	return nil
}
