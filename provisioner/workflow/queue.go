package workflow

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// unasked is how long a queue may go unasked while work waits in it.
const unasked = 5 * time.Second

// Watch logs, for each workflow that waits, that no worker polls the queue, until ctx ends. It runs beside the
// worker, for a worker that is gone can log nothing.
func (e *Engine) Watch(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(unasked / 2):
		}
		polled := time.Unix(0, e.polled.Load())
		silent := e.store.Now().Sub(polled)
		if silent < unasked || e.busy.Load() > 0 {
			continue
		}
		var waiting []store.Workflow
		if err := e.store.View(ctx, "queue", func(t *store.Tx) (err error) {
			waiting, err = t.SlowWorkflows(e.store.Now().Add(-unasked), workflowsAtOnce)
			return err
		}); err != nil {
			continue // the store logs its own failures
		}
		for _, w := range waiting {
			if w.WakeAt.After(e.store.Now()) {
				continue
			}
			e.emitter.Log(w.Context(ctx), telemetry.Error, fmt.Sprintf("task queue workflows: %s is due and no worker is polling, last poll %s ago", w.ID, silent.Round(time.Second)),
				slog.String(semconv.ErrorType, "no_pollers"), slog.String(semconv.Operation, w.Operation))
		}
	}
	return nil
}
