package lab

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Pace of the view, before scaling.
const (
	viewEvery  = time.Second
	viewRepeat = 5 * time.Second
)

// projection is the read model behind the user interface: it refreshes its view of the allocations and
// tells what it shows, when that changes and every few seconds.
func (l *lab) projection(ctx context.Context, emitter *telemetry.Emitter) {
	type shown struct {
		state string
		told  time.Time
	}
	view := map[string]shown{}
	refreshed := time.Now()
	for ctx.Err() == nil {
		if l.viewStopped.Load() { // who looks sees what it was
			for id, have := range view {
				if time.Since(have.told) > l.config.scaled(viewRepeat) {
					l.shows(ctx, emitter, id, have.state, refreshed)
					view[id] = shown{have.state, time.Now()}
				}
			}
			pause(ctx, l.config.scaled(viewEvery))
			continue
		}
		var page rest.Allocations
		asOf := time.Now()
		if _, err := l.control.do(ctx, http.MethodGet, "/v1/allocations?limit=100", nil, &page, nil); err != nil {
			if ctx.Err() == nil {
				emitter.Log(ctx, telemetry.Warn, "refresh view: "+err.Error())
			}
			pause(ctx, l.config.scaled(viewEvery))
			continue
		}
		refreshed = asOf
		seen := map[string]shown{}
		for _, a := range page.Allocations {
			have := view[a.AllocationID]
			over := a.State == semconv.Released || a.State == semconv.Canceled || a.State == semconv.Failed
			if have.state != a.State || !over && time.Since(have.told) > l.config.scaled(viewRepeat) {
				if have.state == "" && over {
					have.told = asOf // before this process: nobody looks at it any more
				} else {
					l.shows(ctx, emitter, a.AllocationID, a.State, asOf)
				}
				have = shown{a.State, time.Now()}
			}
			seen[a.AllocationID] = have
		}
		view = seen
		pause(ctx, l.config.scaled(viewEvery))
	}
}

// shows is one look at the view.
func (l *lab) shows(ctx context.Context, emitter *telemetry.Emitter, id, state string, asOf time.Time) {
	emitter.Event(telemetry.With(ctx, semconv.AllocationID, id), semconv.EventProjection, slog.String(semconv.Projection, "ui"),
		slog.String(semconv.Field, "state"), slog.String(semconv.Value, state), slog.Time(semconv.AsOf, asOf))
}
