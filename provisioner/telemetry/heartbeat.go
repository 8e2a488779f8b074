package telemetry

import (
	"context"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Beat says every so often, and at once, that the source is alive, until ctx ends. component is ""
// for the source's own service.name; every 0 never beats.
func (s *Source) Beat(ctx context.Context, component string, every time.Duration) {
	s.BeatWhile(ctx, component, every, func(context.Context) bool { return true })
}

// BeatWhile is Beat for a source that is spoken for: each beat asks whether it is alive, and says
// nothing if not.
func (s *Source) BeatWhile(ctx context.Context, component string, every time.Duration, alive func(context.Context) bool) {
	if s == nil || every <= 0 {
		<-ctx.Done()
		return
	}
	if component == "" {
		component = s.service
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if alive(ctx) {
			s.Event(ctx, semconv.EventHeartbeat, slog.String(semconv.Component, component))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
