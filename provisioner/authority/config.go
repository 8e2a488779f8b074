package authority

import (
	"errors"
	"time"
)

// Config is the `authority` section: who names node agents.
type Config struct {
	Folder string        `yaml:"folder"` // with the authority's key, made where it is missing; empty: agents get no certificates
	Life   time.Duration `yaml:"life"`   // of an agent's certificate
}

// DefaultConfig has no authority.
func DefaultConfig() Config { return Config{Life: time.Hour} }

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.Life <= 0 {
		return errors.New("authority.life: must be positive")
	}
	return nil
}
