package clickhouseexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/faultline-io/faultline/internal/sharedcomponent"
)

// Type is the name of the component in a configuration. It is not "clickhouse", so that it can stand
// beside the contrib exporter of that name.
var Type = component.MustNewType("faultline_clickhouse")

// NewFactory gives the factory of the exporter.
func NewFactory() exporter.Factory {
	f := &factory{}
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
	shared sharedcomponent.Components[*Config, *chExporter]
}

func (f *factory) exporter(set exporter.Settings, cfg component.Config) (*chExporter, []exporterhelper.Option, error) {
	c := cfg.(*Config)
	e, err := f.shared.Get(c, func() (*chExporter, error) { return newExporter(c, set) })
	if err != nil {
		return nil, nil, err
	}
	return e.Component, []exporterhelper.Option{
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithStart(e.Start),
		exporterhelper.WithShutdown(e.Shutdown),
		exporterhelper.WithTimeout(c.Timeout),
		exporterhelper.WithQueue(c.Queue),
		exporterhelper.WithRetry(c.Retry),
	}, nil
}

func (f *factory) createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	e, options, err := f.exporter(set, cfg)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewLogs(ctx, set, cfg, e.consumeLogs, options...)
}

func (f *factory) createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	e, options, err := f.exporter(set, cfg)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewTraces(ctx, set, cfg, e.consumeTraces, options...)
}
