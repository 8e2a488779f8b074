package guard

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/faultline-io/faultline/internal/access"
)

// Config is the `access` section of the correlator. Empty, whoever reaches the API may ask everything, and it listens on
// this machine only.
type Config struct {
	access.Config `yaml:",inline"`
	// Hosts are further names under which the API is asked: any page that a browser shows could have its own name lead here.
	Hosts   []string `yaml:"hosts,omitempty"`
	Metrics string   `yaml:"metrics,omitempty"` // who may read /metrics: "viewer" of all tenants (the default), or "open": anybody
	Log     Log      `yaml:"log"`
}

// Log says what is written down.
type Log struct {
	Requests bool `yaml:"requests"` // a line for each request
	Audit    bool `yaml:"audit"`    // a line for each reading of allocations, incidents or records
}

// Who may read /metrics.
const (
	metricsViewer = "viewer"
	metricsOpen   = "open"
)

// DefaultConfig asks nobody who they are, and writes everything down.
func DefaultConfig() Config { return Config{Log: Log{Requests: true, Audit: true}} }

// Validate names the key that is wrong.
func (c Config) Validate() error {
	all := []error{c.Config.Validate()}
	switch c.Metrics {
	case "", metricsViewer, metricsOpen:
	default:
		all = append(all, fmt.Errorf("access.metrics: %q is neither %s nor %s", c.Metrics, metricsViewer, metricsOpen))
	}
	for _, host := range c.Hosts {
		if host == "" || strings.ContainsAny(host, "/*@ ") || strings.Contains(host, ":") && net.ParseIP(strings.Trim(host, "[]")) == nil {
			all = append(all, fmt.Errorf("access.hosts: %q is no name: neither a port, nor a scheme, nor * belong to it", host))
		}
	}
	return errors.Join(all...)
}

// Limits is the `limits` section. 0 is no limit.
type Limits struct {
	Rate           float64 `yaml:"rate"`            // requests a second of one caller
	Burst          int     `yaml:"burst"`           // so many at once, before the rate counts
	Concurrent     int     `yaml:"concurrent"`      // requests that are being answered
	ConcurrentEach int     `yaml:"concurrent_each"` // of one caller
	Streams        int     `yaml:"streams"`         // streams of events that are open; they count in nothing else
	StreamsEach    int     `yaml:"streams_each"`    // of one caller
	Body           int64   `yaml:"body"`            // bytes of a request's body
}

// DefaultLimits leave room for a page and a script, and none for a loop that runs away.
func DefaultLimits() Limits {
	return Limits{Rate: 200, Burst: 400, Concurrent: 256, ConcurrentEach: 64, Streams: 2000, StreamsEach: 1000, Body: 1 << 20}
}

// Validate names the key that is wrong.
func (l Limits) Validate() error {
	for key, value := range map[string]float64{
		"rate": l.Rate, "burst": float64(l.Burst), "concurrent": float64(l.Concurrent), "concurrent_each": float64(l.ConcurrentEach),
		"streams": float64(l.Streams), "streams_each": float64(l.StreamsEach), "body": float64(l.Body),
	} {
		if !(value >= 0) { // NaN, too
			return fmt.Errorf("limits.%s: must not be negative", key)
		}
	}
	if l.Rate > 0 && l.Burst < 1 {
		return errors.New("limits.burst: must be at least 1 where limits.rate is set, or nobody could ask anything")
	}
	return nil
}
