package identityprocessor

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/processors/identityprocessor/linkstore"
)

// Type is the name of the component in a configuration.
var Type = component.MustNewType("identity")

// NewFactory gives the factory of the processor.
func NewFactory() processor.Factory {
	f := &factory{shared: map[*Config]*identityProcessor{}}
	return processor.NewFactory(Type, createDefaultConfig,
		processor.WithLogs(f.createLogs, component.StabilityLevelBeta),
		processor.WithTraces(f.createTraces, component.StabilityLevelBeta),
		processor.WithMetrics(f.createMetrics, component.StabilityLevelBeta))
}

func createDefaultConfig() component.Config {
	return &Config{MaxSubjects: identity.DefaultMaxSubjects, Links: configoptional.Default(linkstore.DefaultConfig())}
}

// factory keeps one processor for each configured one: the Collector creates one a pipeline.
type factory struct {
	mu     sync.Mutex
	shared map[*Config]*identityProcessor
}

func (f *factory) processor(set processor.Settings, cfg component.Config) (*identityProcessor, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := cfg.(*Config)
	p := f.shared[c]
	if p == nil {
		var err error
		if p, err = newProcessor(c, set); err != nil {
			return nil, err
		}
		f.shared[c] = p
	}
	p.pipelines++
	return p, nil
}

// start starts the processor with its first pipeline.
func (f *factory) start(cfg component.Config) component.StartFunc {
	return func(ctx context.Context, _ component.Host) error {
		f.mu.Lock()
		p := f.shared[cfg.(*Config)]
		first := p != nil && !p.started
		if first {
			p.started = true
		}
		f.mu.Unlock()
		if !first {
			return nil
		}
		return p.start(ctx)
	}
}

// shutdown forgets the processor with its last pipeline.
func (f *factory) shutdown(cfg component.Config) component.ShutdownFunc {
	return func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		c := cfg.(*Config)
		p := f.shared[c]
		if p == nil {
			return nil
		}
		if p.pipelines--; p.pipelines > 0 {
			return nil
		}
		delete(f.shared, c)
		return p.stop()
	}
}

func (f *factory) options(cfg component.Config) []processorhelper.Option {
	return []processorhelper.Option{
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
		processorhelper.WithStart(f.start(cfg)),
		processorhelper.WithShutdown(f.shutdown(cfg)),
	}
}

func (f *factory) createLogs(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
	p, err := f.processor(set, cfg)
	if err != nil {
		return nil, err
	}
	o, err := newObjects(p, set)
	if err != nil {
		return nil, err
	}
	return processorhelper.NewLogs(ctx, set, cfg, next, o.before(p.logs), f.options(cfg)...)
}

func (f *factory) createTraces(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	p, err := f.processor(set, cfg)
	if err != nil {
		return nil, err
	}
	return processorhelper.NewTraces(ctx, set, cfg, next, p.traces, f.options(cfg)...)
}

func (f *factory) createMetrics(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Metrics) (processor.Metrics, error) {
	p, err := f.processor(set, cfg)
	if err != nil {
		return nil, err
	}
	return processorhelper.NewMetrics(ctx, set, cfg, next, p.metrics, f.options(cfg)...)
}
