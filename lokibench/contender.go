package lokibench

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configcompression"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	metric "go.opentelemetry.io/otel/metric/noop"
	trace "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"github.com/faultline-io/faultline/collector/lokiexporter"
)

// contender is a way to Loki.
type contender struct {
	name   string
	make   exporter.Factory
	config func(endpoint, tenant string) component.Config
}

// contenders are this exporter first, then otlp_http in every compression that Loki's OTLP endpoint takes. None has a queue
// or retries: those are the same code for both.
func contenders() []contender {
	ours := func(streams int) func(string, string) component.Config {
		return func(endpoint, tenant string) component.Config {
			c := lokiexporter.NewFactory().CreateDefaultConfig().(*lokiexporter.Config)
			c.Client.Endpoint, c.TenantID, c.StreamsPerPush = endpoint, tenant, streams
			c.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
			c.Retry.Enabled = false
			return c
		}
	}
	otlp := func(compression configcompression.Type) func(string, string) component.Config {
		return func(endpoint, tenant string) component.Config {
			c := otlphttpexporter.NewFactory().CreateDefaultConfig().(*otlphttpexporter.Config)
			c.ClientConfig.Endpoint, c.ClientConfig.Compression = endpoint+"/otlp", compression
			c.ClientConfig.Headers = configopaque.MapList{{Name: "X-Scope-OrgID", Value: configopaque.String(tenant)}}
			c.QueueConfig = configoptional.None[exporterhelper.QueueBatchConfig]()
			c.RetryConfig.Enabled = false
			return c
		}
	}
	return []contender{
		{"faultline_loki", lokiexporter.NewFactory(), ours(1)},
		{"faultline_loki, streams_per_push: 100", lokiexporter.NewFactory(), ours(100)},
		{"otlp_http, gzip (its default)", otlphttpexporter.NewFactory(), otlp(configcompression.TypeGzip)},
		{"otlp_http, zstd", otlphttpexporter.NewFactory(), otlp(configcompression.TypeZstd)},
		{"otlp_http, lz4", otlphttpexporter.NewFactory(), otlp(configcompression.TypeLz4)},
		{"otlp_http, none", otlphttpexporter.NewFactory(), otlp("none")},
	}
}

// start makes the exporter for a Loki and a tenant.
func (c contender) start(ctx context.Context, endpoint, tenant string) (exporter.Logs, error) {
	set := exporter.Settings{ID: component.NewID(c.make.Type()), BuildInfo: component.NewDefaultBuildInfo(), TelemetrySettings: component.TelemetrySettings{
		Logger: zap.NewNop(), TracerProvider: trace.NewTracerProvider(), MeterProvider: metric.NewMeterProvider()}}
	e, err := c.make.CreateLogs(ctx, set, c.config(endpoint, tenant))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if err := e.Start(ctx, componenttest.NewNopHost()); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return e, nil
}

// cpu is what this process has used of processors, its garbage collector included: what others do on the machine does not
// count, as it would on a clock.
func cpu() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
