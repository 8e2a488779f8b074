package linkstore

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/faultline-io/faultline/internal/schema"
)

// kept is how long the store keeps links in the order of time (0020_links_by_time.sql).
const kept = 30 * 24 * time.Hour

// Config of a Follower.
type Config struct {
	// DSN is where the store is: http://user:secret@host:8123/faultline or clickhouse://host:9000/faultline.
	DSN configopaque.String `mapstructure:"dsn"`
	// Interval between two looks at the store; each is moved by up to a fifth, so that replicas don't
	// ask in step.
	Interval time.Duration `mapstructure:"interval"`
	// MaxBackoff is the longest wait between two attempts while the store is away.
	MaxBackoff time.Duration `mapstructure:"max_backoff"`
	// Overlap is how late a link may become visible after the store has stamped it.
	Overlap time.Duration `mapstructure:"overlap"`
	// Timeout of one look.
	Timeout   time.Duration `mapstructure:"timeout"`
	WarmStart WarmStart     `mapstructure:"warm_start"`
}

// WarmStart bounds what is read at the start, and after the store was away.
type WarmStart struct {
	// MaxAge of the links that are read; 0 reads none that are older than the overlap.
	MaxAge time.Duration `mapstructure:"max_age"`
	// MaxRows is how many links are read, the newest.
	MaxRows int `mapstructure:"max_rows"`
	// MaxWait is how long the start of the Collector waits for it; it goes on behind the Collector's
	// work then.
	MaxWait time.Duration `mapstructure:"max_wait"`
}

// DefaultConfig lacks nothing but the DSN.
func DefaultConfig() Config {
	return Config{
		Interval:   5 * time.Second,
		MaxBackoff: time.Minute,
		Overlap:    2 * time.Minute,
		Timeout:    20 * time.Second,
		WarmStart:  WarmStart{MaxAge: 7 * 24 * time.Hour, MaxRows: 500_000, MaxWait: 5 * time.Second},
	}
}

// Validate names the key that is wrong.
func (c *Config) Validate() error {
	var errs []error
	wrong := func(is bool, key, what string, v any) {
		if is {
			errs = append(errs, fmt.Errorf("%s: %v %s", key, v, what))
		}
	}
	if _, err := schema.Options(string(c.DSN)); err != nil {
		errs = append(errs, fmt.Errorf("dsn: %w", err))
	}
	wrong(c.Interval < 10*time.Millisecond, "interval", "is less than 10ms", c.Interval)
	wrong(c.MaxBackoff < c.Interval, "max_backoff", "is less than interval", c.MaxBackoff)
	wrong(c.Overlap < time.Second, "overlap", "is less than 1s", c.Overlap)
	wrong(c.Timeout <= 0, "timeout", "is not positive", c.Timeout)
	wrong(c.WarmStart.MaxAge < 0, "warm_start::max_age", "is negative", c.WarmStart.MaxAge)
	wrong(c.WarmStart.MaxAge > kept, "warm_start::max_age", fmt.Sprintf("is more than the %s for which the store keeps them in order", kept), c.WarmStart.MaxAge)
	wrong(c.WarmStart.MaxRows < 0, "warm_start::max_rows", "is negative", c.WarmStart.MaxRows)
	wrong(c.WarmStart.MaxWait < 0, "warm_start::max_wait", "is negative", c.WarmStart.MaxWait)
	return errors.Join(errs...)
}
