package notify

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Config is the `notify` section.
type Config struct {
	Alertmanager []string      `yaml:"alertmanager"` // addresses, as Prometheus knows them: http://user:secret@host:9093; each is told everything
	Webhook      string        `yaml:"webhook"`      // address that is sent each change of an incident as JSON
	Victims      int           `yaml:"victims"`      // only of incidents that hit so many allocations
	Every        time.Duration `yaml:"every"`        // how often incidents are looked for
}

// DefaultConfig tells nobody.
func DefaultConfig() Config { return Config{Victims: 1, Every: 15 * time.Second} }

// Enabled says whether anybody is told.
func (c Config) Enabled() bool { return len(c.Alertmanager) > 0 || c.Webhook != "" }

// Validate names the key that is wrong.
func (c Config) Validate() error {
	var all []error
	for _, one := range c.Alertmanager {
		all = append(all, address("notify.alertmanager", one))
	}
	if c.Webhook != "" {
		all = append(all, address("notify.webhook", c.Webhook))
	}
	if c.Victims < 1 {
		all = append(all, fmt.Errorf("notify.victims: %d is less than 1", c.Victims))
	}
	if c.Every < time.Second {
		all = append(all, fmt.Errorf("notify.every: %s is less than a second", c.Every))
	}
	return errors.Join(all...)
}

func address(key, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s: not an address of http or https", key) // it may hold a password: it is not repeated
	}
	return nil
}
