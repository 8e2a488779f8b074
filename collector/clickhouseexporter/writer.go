package clickhouseexporter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	metric "go.opentelemetry.io/otel/metric/noop"
	trace "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"github.com/faultline-io/faultline/internal/schema"
)

// Writer stores what the exporter would, in the same way, without a Collector around it: no queue, no
// retries. It is for one goroutine.
type Writer struct{ e *chExporter }

// OpenWriter waits for the store, brings its tables up to date and writes with now as the time of ingestion; nil is the
// store's own clock.
func OpenWriter(ctx context.Context, dsn string, now func() time.Time) (*Writer, error) {
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = configopaque.String(dsn)
	e, err := newExporter(cfg, exporter.Settings{ID: component.NewID(Type), TelemetrySettings: component.TelemetrySettings{
		Logger: zap.NewNop(), MeterProvider: metric.NewMeterProvider(), TracerProvider: trace.NewTracerProvider(),
	}})
	if err != nil {
		return nil, err
	}
	e.now = now
	if e.store.conn, err = schema.Open(ctx, dsn); err != nil {
		return nil, err
	}
	w := &Writer{e}
	if err := e.store.attempt(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the store: %w", err), w.Close())
	}
	return w, nil
}

// WriteLogs stores log records.
func (w *Writer) WriteLogs(ctx context.Context, ld plog.Logs) error { return w.e.consumeLogs(ctx, ld) }

// WriteSpans stores spans.
func (w *Writer) WriteSpans(ctx context.Context, td ptrace.Traces) error {
	return w.e.consumeTraces(ctx, td)
}

// Close gives the connections back.
func (w *Writer) Close() error { return w.e.store.conn.Close() }
