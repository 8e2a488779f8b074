package recovery

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/faultline-io/faultline/internal/bearer"
)

// Config is the `recovery` section.
type Config struct {
	StuckAfter        time.Duration `yaml:"stuck_after"`         // what is on its way for longer is listed as stuck
	Verdicts          string        `yaml:"verdicts"`            // base URL of a correlator, asked for the verdict that justifies an action; empty: only what callers bring
	VerdictsTokenFile string        `yaml:"verdicts_token_file"` // holds the token for that correlator; read each time
	VerdictTime       time.Duration `yaml:"verdict_time"`        // for its answer; without one the action goes on, and the audit log says so
}

// DefaultConfig asks no correlator.
func DefaultConfig() Config {
	return Config{StuckAfter: 15 * time.Minute, VerdictTime: 3 * time.Second}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	var all []error
	if c.StuckAfter <= 0 || c.VerdictTime <= 0 {
		all = append(all, errors.New("recovery: stuck_after and verdict_time must be positive"))
	}
	if c.Verdicts != "" {
		if u, err := url.Parse(c.Verdicts); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			all = append(all, fmt.Errorf("recovery.verdicts: %q is no http URL", c.Verdicts))
		} else if err := bearer.Safe(u); c.VerdictsTokenFile != "" && err != nil {
			all = append(all, fmt.Errorf("recovery.verdicts: %w", err))
		}
	}
	return errors.Join(all...)
}
