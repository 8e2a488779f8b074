package clickhouseexporter

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// chExporter turns OTLP into batches of rows and gives them to the store.
type chExporter struct {
	cfg     *Config
	log     *zap.Logger
	profile *profile.Profile
	metrics *metrics
	links   *linkCache
	store   *store
	now     func() time.Time // of who fills a store with what is past; nil: the store's clock
}

func newExporter(cfg *Config, set exporter.Settings) (*chExporter, error) {
	p, err := profile.Load(cfg.Profile)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	m, err := newMetrics(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &chExporter{
		cfg: cfg, log: set.Logger, profile: p, metrics: m, links: newLinkCache(cfg.LinkCache),
		store: &store{dsn: string(cfg.DSN), create: cfg.CreateSchema, log: set.Logger, metrics: m,
			poison: map[string]*poisonTracker{"events": newPoisonTracker(), "links": newPoisonTracker()}},
	}, nil
}

// Start never waits for the store and never fails because it is down: until it answers and its tables
// are there, batches are refused as retryable and stay in the queue.
func (e *chExporter) Start(_ context.Context, host component.Host) error { return e.store.start(host) }

// Shutdown gives the connections back.
func (e *chExporter) Shutdown(context.Context) error { return e.store.stop() }

func (e *chExporter) consumeLogs(ctx context.Context, ld plog.Logs) error {
	b := newBatch(ld.LogRecordCount(), e.cfg.MaxValueBytes)
	b.decoder.Logs(ld, func(r *record.Record) bool { e.add(b, r); return true })
	return e.write(ctx, b)
}

func (e *chExporter) consumeTraces(ctx context.Context, td ptrace.Traces) error {
	b := newBatch(td.SpanCount(), e.cfg.MaxValueBytes)
	b.decoder.Spans(td, func(r *record.Record) bool { e.add(b, r); return true })
	return e.write(ctx, b)
}

func (e *chExporter) add(b *batch, r *record.Record) {
	b.truncater.truncate(r)
	r.Keys = e.profile.Keys(r)
	key := r.Key()
	b.add(r, key)
	stated, err := r.Links()
	if err != nil {
		b.refusedLinks = append(b.refusedLinks, err) // the record itself is kept as it is
	} else {
		for _, f := range stated {
			b.addLink(f, r, key)
		}
	}
	for _, f := range identity.SeenLinks(r.Keys) {
		b.addLink(f, r, key)
	}
}

// write stores the links first: links without their records do no harm, records whose links are lost
// would stay unresolved.
func (e *chExporter) write(ctx context.Context, b *batch) error {
	if b.rows() == 0 {
		return nil
	}
	var ingested time.Time
	if e.now != nil {
		ingested = e.now()
	}
	fresh := e.links.fresh(b.links)
	if err := e.store.write(ctx, links{stated: fresh, store: e.store, ingested: ingested}); err != nil {
		return fmt.Errorf("write links: %w", err)
	}
	e.links.written(fresh)
	if err := e.store.write(ctx, records{batch: b, store: e.store, ingested: ingested}); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	e.metrics.sanitized(ctx, b)
	return nil
}
