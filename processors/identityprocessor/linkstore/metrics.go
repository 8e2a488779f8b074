package linkstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const scopeName = "github.com/faultline-io/faultline/processors/identityprocessor/linkstore"

// metrics of a Follower; the processor's metadata.yaml describes them.
type metrics struct {
	polls, rows  metric.Int64Counter
	duration     metric.Float64Histogram
	registration metric.Registration
	last         atomic.Int64 // when everything visible was read last, in Unix nanoseconds
}

func newMetrics(set component.TelemetrySettings) (*metrics, error) {
	meter := set.MeterProvider.Meter(scopeName)
	m := &metrics{}
	m.last.Store(time.Now().UnixNano())
	var errs [5]error
	m.polls, errs[0] = meter.Int64Counter("faultline_linkstore_polls_total", metric.WithUnit("{poll}"),
		metric.WithDescription("Looks at the store for links of other replicas, by outcome: ok, failed."))
	m.rows, errs[1] = meter.Int64Counter("faultline_linkstore_rows_total", metric.WithUnit("{row}"),
		metric.WithDescription("Links read from the store, by outcome: new, known, refused."))
	m.duration, errs[2] = meter.Float64Histogram("faultline_linkstore_poll_duration_seconds", metric.WithUnit("s"),
		metric.WithDescription("Time of a look at the store."),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30))
	var lag metric.Float64ObservableGauge
	lag, errs[3] = meter.Float64ObservableGauge("faultline_linkstore_lag_seconds", metric.WithUnit("s"),
		metric.WithDescription("Time since all visible links were read; since the start where they never were."))
	m.registration, errs[4] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveFloat64(lag, time.Since(time.Unix(0, m.last.Load())).Seconds())
		return nil
	}, lag)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	return m, nil
}

func (m *metrics) stop() error { return m.registration.Unregister() }

// looked counts one look.
func (m *metrics) looked(ctx context.Context, took time.Duration, t told, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	} else {
		m.last.Store(time.Now().UnixNano())
	}
	m.polls.Add(ctx, 1, by(outcome))
	m.duration.Record(ctx, took.Seconds())
	for _, n := range [...]struct {
		outcome string
		rows    int64
	}{{"new", t.fresh}, {"known", t.known}, {"refused", t.refused}} {
		if n.rows > 0 {
			m.rows.Add(ctx, n.rows, by(n.outcome))
		}
	}
}

func by(outcome string) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(attribute.String("outcome", outcome)))
}
