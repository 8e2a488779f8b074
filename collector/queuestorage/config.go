package queuestorage

import (
	"errors"
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
)

// Config is that of file_storage, with defaults for queues: synced, compacted after a backlog, folder made where missing.
type Config struct {
	filestorage.Config `mapstructure:",squash"`

	// MinFreeMiB is the room on the disk below which nothing more is taken into a queue. What is in it still goes out.
	MinFreeMiB int `mapstructure:"min_free_mib"`
}

// Validate names the key that is wrong.
func (c *Config) Validate() error {
	var errs []error
	if c.MinFreeMiB < 1 {
		errs = append(errs, fmt.Errorf("min_free_mib: %d is less than 1", c.MinFreeMiB))
	}
	if c.Compaction.Directory == "" {
		c.Compaction.Directory = c.Directory // the same file system, so that a compacted file takes the place of the other at once
	}
	return errors.Join(append(errs, c.Config.Validate())...)
}
