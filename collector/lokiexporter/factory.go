package lokiexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
)

// Type is the name of the component in a configuration.
var Type = component.MustNewType("faultline_loki")

// NewFactory gives the factory of the exporter.
func NewFactory() exporter.Factory {
	return exporter.NewFactory(Type, createDefaultConfig, exporter.WithLogs(createLogs, component.StabilityLevelBeta))
}

func createDefaultConfig() component.Config {
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = 30 * time.Second
	client.WriteBufferSize = 512 << 10
	retry := configretry.NewDefaultBackOffConfig()
	retry.InitialInterval = time.Second
	retry.MaxElapsedTime = 0 // a Loki that is down for a night is no reason to lose the night
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.Sizer = exporterhelper.RequestSizerTypeItems
	queue.QueueSize = 1_000_000
	queue.NumConsumers = 2
	queue.Batch = configoptional.Some(exporterhelper.BatchConfig{
		FlushTimeout: time.Second, Sizer: exporterhelper.RequestSizerTypeItems, MinSize: 8192, MaxSize: 16384,
	})
	return &Config{
		Client:             client,
		Labels:             DefaultLabels(),
		MaxLineBytes:       256 << 10,
		MaxMetadataBytes:   64 << 10,
		MaxMetadataEntries: 128,
		MaxPushBytes:       1 << 20,
		MaxPushEntries:     10_000,
		StreamsPerPush:     1,
		AskWhenInDoubt:     true,
		Queue:              configoptional.Some(queue),
		Retry:              retry,
	}
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	c := cfg.(*Config)
	e, err := newExporter(c, set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewLogs(ctx, set, cfg, e.consume,
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}), // each push has its own
		exporterhelper.WithQueue(c.Queue),
		exporterhelper.WithRetry(c.Retry),
	)
}
