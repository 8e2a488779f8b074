package lokiexporter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const meterName = "github.com/faultline-io/faultline/collector/lokiexporter"

// metrics of the exporter; metadata.yaml describes them.
type metrics struct {
	entries, refused, clipped, doubts, pushes, bytes metric.Int64Counter
	duration                                         metric.Float64Histogram
}

func newMetrics(set component.TelemetrySettings) (*metrics, error) {
	meter := set.MeterProvider.Meter(meterName)
	m := &metrics{}
	var errs []error
	counter := func(to *metric.Int64Counter, name, unit, what string) {
		var err error
		*to, err = meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
	}
	counter(&m.entries, "faultline_loki_exporter_entries_total", "{entry}", "Log records that Loki has taken.")
	counter(&m.refused, "faultline_loki_exporter_entries_refused_total", "{entry}", "Log records that Loki will never take, by reason; they are dropped.")
	counter(&m.clipped, "faultline_loki_exporter_values_clipped_total", "{value}", "Values that were cut, replaced or left out so that Loki can take them, by reason.")
	counter(&m.doubts, "faultline_loki_exporter_entries_doubted_total", "{entry}", "Log records of pushes that Loki may have taken without an answer, by what it said when it was asked: present (not sent again), absent, unknown (sent again unasked).")
	counter(&m.pushes, "faultline_loki_exporter_pushes_total", "{push}", "Pushes, by what became of them: accepted, refused (in part or whole), throttled, failed.")
	counter(&m.bytes, "faultline_loki_exporter_push_bytes_total", "By", "Bytes of pushes as they were sent, compressed.")
	var err error
	m.duration, err = meter.Float64Histogram("faultline_loki_exporter_push_duration_seconds", metric.WithUnit("s"),
		metric.WithDescription("Time of a push until it was answered."),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30))
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	return m, nil
}

// What became of a push: the label outcome of faultline_loki_exporter_pushes_total.
const (
	accepted  = "accepted"
	refused   = "refused"
	throttled = "throttled"
	failed    = "failed"
)

// What Loki said of entries in doubt: the label outcome of faultline_loki_exporter_entries_doubted_total.
const (
	present = "present"
	absent  = "absent"
	unknown = "unknown"
)

func (m *metrics) doubted(ctx context.Context, outcome string, n int) {
	if n > 0 {
		m.doubts.Add(ctx, int64(n), metric.WithAttributes(attribute.String("outcome", outcome)))
	}
}

func (m *metrics) pushed(ctx context.Context, outcome string, bytes int, took time.Duration) {
	m.pushes.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
	m.bytes.Add(ctx, int64(bytes))
	m.duration.Record(ctx, took.Seconds())
}

// cut counts what a batch changed, once Loki has the batch.
func (m *metrics) cut(ctx context.Context, by map[string]int) {
	for reason, n := range by {
		if n > 0 {
			m.clipped.Add(ctx, int64(n), metric.WithAttributes(attribute.String("reason", reason)))
		}
	}
}

func (m *metrics) drop(ctx context.Context, reason string, n int) {
	m.refused.Add(ctx, int64(n), metric.WithAttributes(attribute.String("reason", reason)))
}
