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
	rows, links, clipped, dropped, refused, failures metric.Int64Counter
	duration                                         metric.Float64Histogram
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
	counter(&m.links, "faultline_exporter_links_total", "{link}", "Facts about identifiers that the store has taken.")
	counter(&m.clipped, "faultline_exporter_values_clipped_total", "{value}", "Values that were longer than max_value_bytes.")
	counter(&m.dropped, "faultline_exporter_rows_dropped_total", "{row}", "Records that the store cannot take.")
	counter(&m.refused, "faultline_exporter_facts_refused_total", "{fact}", "Facts that cannot be true, by reason; the records are kept.")
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

func (m *metrics) refuse(err error) {
	reason := "time"
	switch {
	case errors.Is(err, identity.ErrID):
		reason = "id"
	case errors.Is(err, identity.ErrKind):
		reason = "kind"
	case errors.Is(err, identity.ErrInterval):
		reason = "interval"
	case errors.Is(err, identity.ErrSelf):
		reason = "self"
	}
	m.refused.Add(context.Background(), 1, metric.WithAttributes(attribute.String("reason", reason)))
}
