package clickhouseexporter

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

// Type is the name of the component in a configuration. It is not "clickhouse", so that it can stand
// beside the contrib exporter of that name.
var Type = component.MustNewType("faultline_clickhouse")

// NewFactory gives the factory of the exporter.
func NewFactory() exporter.Factory {
	f := &factory{shared: map[*Config]*chExporter{}}
	return exporter.NewFactory(Type, createDefaultConfig,
		exporter.WithLogs(f.createLogs, component.StabilityLevelBeta),
		exporter.WithTraces(f.createTraces, component.StabilityLevelBeta))
}

func createDefaultConfig() component.Config {
	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval = time.Second
	retry.MaxElapsedTime = 0 // a store that is down for a night is no reason to lose the night
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer = exporterhelper.RequestSizerTypeItems
	queue.QueueSize = 1_000_000
	queue.NumConsumers = 2
	queue.Batch = configoptional.Some(exporterhelper.BatchConfig{
		FlushTimeout: time.Second, Sizer: exporterhelper.RequestSizerTypeItems, MinSize: 8192, MaxSize: 65536,
	})
	return &Config{
		CreateSchema:  true,
		MaxValueBytes: 16 << 20,
		LinkCache:     1 << 18,
		Timeout:       exporterhelper.TimeoutConfig{Timeout: 30 * time.Second},
		Queue:         configoptional.Some(queue),
		Retry:         retry,
	}
}

// factory keeps one exporter for each configured one, though the Collector creates one a signal: one
// pool of connections, one memory of the links that were written.
type factory struct {
	mu     sync.Mutex
	shared map[*Config]*chExporter
}

func (f *factory) exporter(cfg *Config, set exporter.Settings) (*chExporter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.shared[cfg]
	if e == nil {
		var err error
		if e, err = newExporter(cfg, set); err != nil {
			return nil, err
		}
		f.shared[cfg] = e
	}
	e.signals++
	return e, nil
}

// start starts the exporter with its first signal.
func (f *factory) start(cfg *Config) component.StartFunc {
	return func(ctx context.Context, host component.Host) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		e := f.shared[cfg]
		if e.started {
			return nil
		}
		e.started = true
		return e.start(ctx, host)
	}
}

// shutdown ends it with its last.
func (f *factory) shutdown(cfg *Config) component.ShutdownFunc {
	return func(ctx context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		e := f.shared[cfg]
		if e == nil {
			return nil
		}
		if e.signals--; e.signals > 0 {
			return nil
		}
		delete(f.shared, cfg)
		return e.shutdown(ctx)
	}
}

func (f *factory) createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	c := cfg.(*Config)
	e, err := f.exporter(c, set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewLogs(ctx, set, cfg, e.consumeLogs, f.options(c)...)
}

func (f *factory) createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	c := cfg.(*Config)
	e, err := f.exporter(c, set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewTraces(ctx, set, cfg, e.consumeTraces, f.options(c)...)
}

func (f *factory) options(c *Config) []exporterhelper.Option {
	return []exporterhelper.Option{
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithStart(f.start(c)),
		exporterhelper.WithShutdown(f.shutdown(c)),
		exporterhelper.WithTimeout(c.Timeout),
		exporterhelper.WithQueue(c.Queue),
		exporterhelper.WithRetry(c.Retry),
	}
}
