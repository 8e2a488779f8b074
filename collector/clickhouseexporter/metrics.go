package clickhouseexporter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/faultline-io/faultline/internal/identity"
)

const scopeName = "github.com/faultline-io/faultline/collector/clickhouseexporter"

// metrics of the exporter; metadata.yaml describes them.
type metrics struct {
	rows, links, changed, dropped, ids, refused, failures metric.Int64Counter
	duration                                              metric.Float64Histogram
}

func newMetrics(set component.TelemetrySettings) (*metrics, error) {
	meter := set.MeterProvider.Meter(scopeName)
	m := &metrics{}
	var errs []error
	counter := func(to *metric.Int64Counter, name, unit, what string) {
		var err error
		*to, err = meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
	}
	counter(&m.rows, "faultline_exporter_rows_total", "{row}", "Records that the store has taken.")
	counter(&m.links, "faultline_exporter_links_total", "{link}", "Links about identifiers that the store has taken.")
	counter(&m.changed, "faultline_exporter_values_clipped_total", "{value}", "Values that were cut or replaced, by reason.")
	counter(&m.dropped, "faultline_exporter_rows_dropped_total", "{row}", "Records that the store cannot take.")
	counter(&m.ids, "faultline_exporter_identifiers_refused_total", "{identifier}", "Attributes that name an identifier and cannot be one; they are kept, nothing is found by them.")
	counter(&m.refused, "faultline_exporter_links_refused_total", "{link}", "Links that cannot be true, or that the store cannot take, by reason; the records are kept.")
	counter(&m.failures, "faultline_exporter_insert_failures_total", "{insert}", "Inserts that failed, by table and reason.")
	var err error
	m.duration, err = meter.Float64Histogram("faultline_exporter_insert_duration_seconds", metric.WithUnit("s"),
		metric.WithDescription("Time of an insert, by table."),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30))
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	return m, nil
}

func (m *metrics) inserted(ctx context.Context, table string, took time.Duration, err error) {
	of := attribute.String("table", table)
	m.duration.Record(ctx, took.Seconds(), metric.WithAttributes(of))
	if err != nil {
		m.failures.Add(ctx, 1, metric.WithAttributes(of, attribute.String("reason", failure(err))))
	}
}

// failure is a word for what went wrong, few enough to be a label.
func failure(err error) string {
	var e *clickhouse.Exception
	switch {
	case isContent(err):
		return "content"
	case errors.As(err, &e):
		return fmt.Sprintf("code_%d", e.Code)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "timeout"
	}
	return "connection"
}

// sanitized counts what the batch could not keep as it was said; the README tells the rules.
func (m *metrics) sanitized(ctx context.Context, b *batch) {
	for reason, n := range map[string]int{
		"length": b.truncater.cut, "time": b.decoder.Times, "utf8": b.decoder.Texts, "number": b.decoder.Numbers,
	} {
		if n > 0 {
			m.changed.Add(ctx, int64(n), metric.WithAttributes(attribute.String("reason", reason)))
		}
	}
	if b.refusedIDs > 0 {
		m.ids.Add(ctx, int64(b.refusedIDs))
	}
	for _, err := range b.refusedLinks {
		m.refused.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", identity.Reason(err))))
	}
}
