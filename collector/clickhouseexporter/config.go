package clickhouseexporter

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
)

// Config of the exporter.
type Config struct {
	// DSN is where the store is: http://user:secret@host:8123/faultline or clickhouse://host:9000/faultline.
	DSN configopaque.String `mapstructure:"dsn"`
	// Profile says which identifiers a record carries: a built-in name or a file; "" is the default one.
	// It should be the one that the identity processor uses.
	Profile string `mapstructure:"profile"`
	// CreateSchema brings the tables up to date at the start; without it the exporter waits until
	// somebody else has.
	CreateSchema bool `mapstructure:"create_schema"`
	// MaxValueBytes bounds a body and every attribute value; longer ones are cut at a character and counted.
	MaxValueBytes int `mapstructure:"max_value_bytes"`
	// LinkCache is how many links are remembered as written, so that they are not written again.
	LinkCache int `mapstructure:"link_cache"`

	Timeout exporterhelper.TimeoutConfig                             `mapstructure:",squash"`
	Queue   configoptional.Optional[exporterhelper.QueueBatchConfig] `mapstructure:"sending_queue"`
	Retry   configretry.BackOffConfig                                `mapstructure:"retry_on_failure"`
}

// Validate names the key that is wrong.
func (c *Config) Validate() error {
	var errs []error
	if _, err := schema.Options(string(c.DSN)); err != nil {
		errs = append(errs, fmt.Errorf("dsn: %w", err))
	}
	if _, err := profile.Load(c.Profile); err != nil {
		errs = append(errs, fmt.Errorf("profile: %w", err))
	}
	if c.MaxValueBytes < 1024 {
		errs = append(errs, fmt.Errorf("max_value_bytes: %d is less than 1024", c.MaxValueBytes))
	}
	if c.LinkCache < 1 {
		errs = append(errs, fmt.Errorf("link_cache: %d is less than 1", c.LinkCache))
	}
	if c.Queue.HasValue() && c.Queue.Get().StorageID != nil && (!c.Retry.Enabled || c.Retry.MaxElapsedTime > 0) {
		errs = append(errs, errors.New("retry_on_failure: a queue on disk (sending_queue.storage) needs enabled: true and max_elapsed_time: 0; else what was acknowledged is thrown away when the store is away"))
	}
	return errors.Join(errs...)
}
