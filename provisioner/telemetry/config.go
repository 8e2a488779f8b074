package telemetry

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Config is the `telemetry` section.
type Config struct {
	Endpoint  string        `yaml:"endpoint"`  // base URL of an OTLP/HTTP receiver; empty: none
	File      string        `yaml:"file"`      // OTLP/JSON lines are appended here as well; empty: none
	Queue     int           `yaml:"queue"`     // records that may wait
	Journal   int           `yaml:"journal"`   // transactions whose lifecycle events may wait in the database while the receiver is away
	Batch     int           `yaml:"batch"`     // records of one request
	Flush     time.Duration `yaml:"flush"`     // longest wait of a record, to be sent with others
	Timeout   time.Duration `yaml:"timeout"`   // of one request
	Heartbeat time.Duration `yaml:"heartbeat"` // between two heartbeats of one component; 0: none
}

// DefaultConfig sends to a Collector on this machine.
func DefaultConfig() Config {
	return Config{
		Endpoint: "http://127.0.0.1:4318", Queue: 32768, Journal: 1 << 20, Batch: 512, Flush: 200 * time.Millisecond,
		Timeout: 10 * time.Second, Heartbeat: 15 * time.Second,
	}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.Endpoint != "" {
		if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("telemetry.endpoint: %q is no http or https URL", c.Endpoint)
		}
	}
	switch {
	case c.Batch < 1:
		return errors.New("telemetry.batch: must be at least 1")
	case c.Queue < c.Batch:
		return errors.New("telemetry.queue: must not be smaller than telemetry.batch")
	case c.Journal < 1:
		return errors.New("telemetry.journal: must be at least 1")
	case c.Flush <= 0:
		return errors.New("telemetry.flush: must be positive")
	case c.Timeout <= 0:
		return errors.New("telemetry.timeout: must be positive")
	case c.Heartbeat < 0:
		return errors.New("telemetry.heartbeat: must not be negative")
	}
	return nil
}
