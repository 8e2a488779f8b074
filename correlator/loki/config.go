package loki

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Config is the `loki` section.
type Config struct {
	URL       string        `yaml:"url"`        // base address, with user:secret@ where it wants them; empty: no lines are read
	Tenant    string        `yaml:"tenant"`     // X-Scope-OrgID; empty: none is sent
	TokenFile string        `yaml:"token_file"` // holds a bearer token; read for each question
	Timeout   time.Duration `yaml:"timeout"`    // of a question
}

// DefaultConfig reads no lines.
func DefaultConfig() Config { return Config{Timeout: 10 * time.Second} }

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.URL == "" {
		return nil
	}
	var all []error
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		all = append(all, errors.New("loki.url: not an address of http or https")) // it may hold a password: it is not repeated
	} else if u.User != nil && c.TokenFile != "" {
		all = append(all, errors.New("loki.token_file: the address has a user already"))
	}
	if c.Timeout <= 0 {
		all = append(all, fmt.Errorf("loki.timeout: %s is not positive", c.Timeout))
	}
	return errors.Join(all...)
}
