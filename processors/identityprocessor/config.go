package identityprocessor

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/processors/identityprocessor/linkstore"
)

// Config of the processor.
type Config struct {
	// Profile says where identifiers stand: a built-in name or a file; "" is the default one.
	Profile string `mapstructure:"profile"`
	// MaxSubjects bounds what is remembered; beyond it the least recently
	// used of the source that holds most are forgotten, and counted.
	MaxSubjects int `mapstructure:"max_subjects"`
	// Tolerance is how far two clocks may differ at the edges of a node instance's life.
	Tolerance time.Duration `mapstructure:"tolerance"`
	// Links shares what is learnt with other replicas, and with this one after a restart, through the
	// store; off where the key is absent.
	Links configoptional.Optional[linkstore.Config] `mapstructure:"links"`
}

// Validate names the key that is wrong.
func (c *Config) Validate() error {
	var errs []error
	if _, err := profile.Load(c.Profile); err != nil {
		errs = append(errs, fmt.Errorf("profile: %w", err))
	}
	if c.MaxSubjects < 1 {
		errs = append(errs, fmt.Errorf("max_subjects: %d is less than 1", c.MaxSubjects))
	}
	if c.Tolerance < 0 {
		errs = append(errs, fmt.Errorf("tolerance: %s is negative", c.Tolerance))
	}
	return errors.Join(errs...)
}

// remembered is how many answers are kept: 2 MB of places, and up to 50 MB where as many lists of
// identifiers come again and again.
const remembered = 1 << 18

func (c *Config) options(p *profile.Profile) identity.Options {
	return identity.Options{SharedNodes: p.SharedNodes, MaxSubjects: c.MaxSubjects, Forget: true, Remember: remembered, Tolerance: int64(c.Tolerance)}
}
