package identityprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/faultline-io/faultline/internal/identity"
)

const scopeName = "github.com/faultline-io/faultline/processors/identityprocessor"

// maxServices bounds the label of the unresolved: a source may call itself anything.
const maxServices = 200

// telemetry is the processor's own; metadata.yaml describes the metrics.
type telemetry struct {
	log                                             *zap.Logger
	resolved, unresolved, conflicts, refused, badIn metric.Int64Counter
	lookup                                          metric.Float64Histogram
	late                                            *late
	registration                                    metric.Registration

	mu       sync.Mutex
	logged   map[string]bool // what was logged: each kind once
	services map[string]bool
}

func newTelemetry(set component.TelemetrySettings, x *identity.Index) (*telemetry, error) {
	meter := set.MeterProvider.Meter(scopeName)
	t := &telemetry{log: set.Logger, logged: map[string]bool{}, services: map[string]bool{}, late: newLate(x)}
	var errs []error
	counter := func(to *metric.Int64Counter, name, unit, what string) {
		var err error
		*to, err = meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
	}
	counter(&t.resolved, "faultline_identity_resolved_total", "{record}", "Records whose allocation was found, by how.")
	counter(&t.unresolved, "faultline_identity_unresolved_total", "{record}", "Records whose allocation is not known yet, by service.")
	counter(&t.conflicts, "faultline_identity_conflicts_total", "{record}", "Records whose identifiers lead to different allocations.")
	counter(&t.refused, "faultline_identity_links_refused_total", "{link}", "Links that cannot be true, by reason.")
	counter(&t.badIn, "faultline_identity_bad_input_total", "{record}", "Records with something that cannot be meant, by reason; they are passed on.")
	counter(&t.late.links, "faultline_identity_late_links_total", "{link}", "Identifiers of unresolved records that something learnt afterwards resolves, by how; of a sample, each once.")
	histogram := func(to *metric.Float64Histogram, name, what string, bounds ...float64) {
		var err error
		*to, err = meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
		errs = append(errs, err)
	}
	histogram(&t.late.delay, "faultline_identity_late_link_delay_seconds", "Time between an unresolved record and the link that resolves its identifier.",
		1, 5, 15, 60, 300, 900, 3600, 14400, 86400, 259200)
	histogram(&t.lookup, "faultline_identity_lookup_duration_seconds", "Time to look up whose a record was; one record of a batch is measured.",
		100e-9, 250e-9, 500e-9, 1e-6, 2.5e-6, 5e-6, 10e-6, 25e-6, 100e-6, 1e-3, 10e-3)
	index, err := observeIndex(meter, x)
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	t.registration = index
	return t, nil
}

// observeIndex shows what the index holds and what it had to let go.
func observeIndex(meter metric.Meter, x *identity.Index) (metric.Registration, error) {
	subjects, err := meter.Int64ObservableGauge("faultline_identity_index_subjects", metric.WithUnit("{subject}"),
		metric.WithDescription("Identifiers that are remembered."))
	errs, all := []error{err}, []metric.Observable{subjects}
	counter := func(name, unit, what string) metric.Int64ObservableCounter {
		c, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs, all = append(errs, err), append(all, c)
		return c
	}
	evicted := counter("faultline_identity_index_evicted_total", "{subject}", "Identifiers that were forgotten to make room.")
	full := counter("faultline_identity_index_full_total", "{subject}", "Identifiers that were not remembered because max_subjects was reached.")
	trimmed := counter("faultline_identity_index_trimmed_total", "{link}", "Links that were forgotten because their identifier had hundreds of them.")
	tangled := counter("faultline_identity_index_tangled_total", "{lookup}", "Look-ups that were given up because links led to ever more links.")
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := x.Stats()
		o.ObserveInt64(subjects, int64(s.Subjects))
		o.ObserveInt64(full, int64(s.Full))
		o.ObserveInt64(evicted, int64(s.Evicted))
		o.ObserveInt64(trimmed, int64(s.Trimmed))
		o.ObserveInt64(tangled, int64(s.Tangled))
		return nil
	}, all...)
}

func (t *telemetry) stop() error { return t.registration.Unregister() }

// once logs a kind of trouble the first time.
func (t *telemetry) once(kind, message string, fields ...zap.Field) {
	t.mu.Lock()
	first := !t.logged[kind]
	t.logged[kind] = true
	t.mu.Unlock()
	if first {
		t.log.Warn(message, append(fields, zap.String("note", "logged once; the metrics count"))...)
	}
}

// serviceLabel is the service, or "other" for those beyond the bound.
func (t *telemetry) serviceLabel(service string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.services[service]:
		return service
	case len(t.services) >= maxServices || len(service) > 128:
		return "other"
	}
	t.services[service] = true
	return service
}

func (t *telemetry) batch(now pcommon.Timestamp) *batchStats {
	return &batchStats{telemetry: t, now: int64(now), bads: map[string]int64{}, refusals: map[string]int64{}} //nolint:gosec // the clock's
}

func add(ctx context.Context, c metric.Int64Counter, n int64, key, value string) {
	c.Add(ctx, n, metric.WithAttributeSet(attribute.NewSet(attribute.String(key, value))))
}
