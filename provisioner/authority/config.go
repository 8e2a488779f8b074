package authority

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Config is the `authority` section: who names node agents.
type Config struct {
	Folder  string        `yaml:"folder"`  // with the authority's key, made where it is missing; empty: agents get no certificates
	Life    time.Duration `yaml:"life"`    // of an agent's certificate
	Proxies []string      `yaml:"proxies"` // without a folder: addresses or networks of the ingress, whose word about callers counts; empty: this machine
}

// DefaultConfig has no authority, and believes what this machine says of callers.
func DefaultConfig() Config { return Config{Life: time.Hour} }

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.Life <= 0 {
		return errors.New("authority.life: must be positive")
	}
	if len(c.Proxies) > 0 && c.Folder != "" {
		return errors.New("authority.proxies: with a folder, the ingress is known by its certificate; leave one of the two out")
	}
	_, err := c.Networks()
	return err
}

// Networks are those of Proxies.
func (c Config) Networks() (all []netip.Prefix, err error) {
	for _, text := range c.Proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, wrong := netip.ParseAddr(text)
			if wrong != nil {
				return nil, fmt.Errorf("authority.proxies: %q is neither an address nor a network", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		all = append(all, p)
	}
	return all, nil
}
