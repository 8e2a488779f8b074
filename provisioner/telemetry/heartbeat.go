package telemetry

import (
	"context"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Heartbeat emits a heartbeat at once and at every interval, until ctx ends. component is ""
// for the emitter's own service.name; with every 0 there is none.
func (s *Emitter) Heartbeat(ctx context.Context, component string, every time.Duration) {
	s.HeartbeatWhile(ctx, component, every, func(context.Context) bool { return true })
}

// HeartbeatWhile is Heartbeat for a part that another one watches: there is no heartbeat while alive is false.
func (s *Emitter) HeartbeatWhile(ctx context.Context, component string, every time.Duration, alive func(context.Context) bool) {
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
