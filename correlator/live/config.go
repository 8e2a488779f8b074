package live

import (
	"errors"
	"fmt"
	"time"
)

// Config of the judging service.
type Config struct {
	Enabled  bool          `yaml:"enabled"`
	Interval time.Duration `yaml:"interval"` // how often the store is asked what arrived
	Sweep    time.Duration `yaml:"sweep"`    // how often an allocation is judged of which nothing arrived: deadlines pass
	Lease    time.Duration `yaml:"lease"`    // how long a replica counts as alive after it was last heard of
	Replica  string        `yaml:"replica"`  // this replica's name; the host's name and a random part where empty
	Share    float64       `yaml:"share"`    // of one core's time that judging may take, at most
	Records  int           `yaml:"records"`  // held in memory, at most
	Adopt    int           `yaml:"adopt"`    // allocations that were there before, taken over at the start, at most
}

// DefaultConfig judges what arrived twice a second, within 0.8 of a core and about 1 GB.
func DefaultConfig() Config {
	return Config{Enabled: true, Interval: 500 * time.Millisecond, Sweep: 30 * time.Second, Lease: 10 * time.Second, Share: 0.8, Records: 500_000, Adopt: 10_000}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	var errs []error
	least := func(key string, got, least time.Duration) {
		if got < least {
			errs = append(errs, fmt.Errorf("judging.%s: %s is shorter than %s", key, got, least))
		}
	}
	least("interval", c.Interval, 10*time.Millisecond)
	least("sweep", c.Sweep, c.Interval)
	least("lease", c.Lease, 4*c.Interval)
	if c.Share <= 0 || c.Share > 1 {
		errs = append(errs, fmt.Errorf("judging.share: %g is not in (0, 1]", c.Share))
	}
	if c.Records < 1000 {
		errs = append(errs, fmt.Errorf("judging.records: %d is less than 1000", c.Records))
	}
	if c.Adopt < 0 {
		errs = append(errs, fmt.Errorf("judging.adopt: %d is negative", c.Adopt))
	}
	return errors.Join(errs...)
}
