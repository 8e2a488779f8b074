package identityprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/sharedcomponent"
	"github.com/faultline-io/faultline/processors/identityprocessor/linkstore"
)

// Type is the name of the component in a configuration.
var Type = component.MustNewType("identity")

// NewFactory gives the factory of the processor.
func NewFactory() processor.Factory {
	f := &factory{}
	return processor.NewFactory(Type, createDefaultConfig,
		processor.WithLogs(f.createLogs, component.StabilityLevelBeta),
		processor.WithTraces(f.createTraces, component.StabilityLevelBeta),
		processor.WithMetrics(f.createMetrics, component.StabilityLevelBeta))
}

func createDefaultConfig() component.Config {
	return &Config{MaxSubjects: identity.DefaultMaxSubjects, Links: configoptional.Default(linkstore.DefaultConfig())}
}

// factory keeps one processor for each configured one: the Collector creates one a pipeline, and what one
// pipeline teaches the index, the others know.
type factory struct {
	shared sharedcomponent.Components[*Config, *identityProcessor]
}

func (f *factory) processor(set processor.Settings, cfg component.Config) (*identityProcessor, []processorhelper.Option, error) {
	c := cfg.(*Config)
	p, err := f.shared.Get(c, func() (*identityProcessor, error) { return newProcessor(c, set) })
	if err != nil {
		return nil, nil, err
	}
	return p.Component, []processorhelper.Option{
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
		processorhelper.WithStart(p.Start),
		processorhelper.WithShutdown(p.Shutdown),
	}, nil
}

func (f *factory) createLogs(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
	p, options, err := f.processor(set, cfg)
	if err != nil {
		return nil, err
	}
	o, err := newObjects(p, set)
	if err != nil {
		return nil, err
	}
	return processorhelper.NewLogs(ctx, set, cfg, next, o.before(p.logs), options...)
}

func (f *factory) createTraces(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	p, options, err := f.processor(set, cfg)
	if err != nil {
		return nil, err
	}
	return processorhelper.NewTraces(ctx, set, cfg, next, p.traces, options...)
}

func (f *factory) createMetrics(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Metrics) (processor.Metrics, error) {
	p, options, err := f.processor(set, cfg)
	if err != nil {
		return nil, err
	}
	return processorhelper.NewMetrics(ctx, set, cfg, next, p.metrics, options...)
}
