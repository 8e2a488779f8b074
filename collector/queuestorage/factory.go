package queuestorage

import (
	"context"
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// Type is the name of the component in a configuration.
var Type = component.MustNewType("faultline_queue")

// NewFactory gives the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(Type, createDefaultConfig, create, component.StabilityLevelBeta)
}

func createDefaultConfig() component.Config {
	c := &Config{Config: *filestorage.NewFactory().CreateDefaultConfig().(*filestorage.Config), MinFreeMiB: 256}
	c.FSync = true // an acknowledged record survives a loss of power
	c.CreateDirectory = true
	c.Compaction.OnRebound = true
	c.Compaction.CleanupOnStart = true
	c.Compaction.Directory = ""
	return c
}

func create(ctx context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	c := cfg.(*Config)
	under := filestorage.NewFactory()
	set.ID = component.NewIDWithName(under.Type(), set.ID.Name())
	inner, err := under.Create(ctx, set, &c.Config)
	if err != nil {
		return nil, err
	}
	files, ok := inner.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("%s is no storage", under.Type())
	}
	return &queueStorage{Extension: files, room: room{dir: c.Directory, least: int64(c.MinFreeMiB) << 20}, log: set.Logger}, nil
}
