package provisioner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Providers is the `providers` section: who serves which pools. Pools that nobody serves are those of node agents.
// A new kind of provider is a field here and a line in all.
type Providers struct {
	AAP []Served[aap.Config] `yaml:"aap"`
	EDA []Served[eda.Config] `yaml:"eda"`
}

// all is every configured provider of every kind.
func (p Providers) all() []configured {
	return slices.Concat(
		each(p.AAP, aap.Open),
		each(p.EDA, eda.Open),
	)
}

// Served is one provider and the pools that it serves.
type Served[C settings[C]] struct {
	Pools  []string `yaml:"pools"`
	Config C        `yaml:",inline"`
}

// settings are what one kind of provider is configured by.
type settings[C any] interface {
	Default() C
	Identity() provider.Identity
	Validate() error
}

// UnmarshalYAML reads over the defaults.
func (s *Served[C]) UnmarshalYAML(read func(any) error) error {
	type plain Served[C]
	p := plain{Config: s.Config.Default()}
	err := read(&p)
	*s = Served[C](p)
	return err
}

// adapter is a provider that was opened.
type adapter interface {
	provider.Provider
	Close()
}

// configured is a Served of any kind.
type configured struct {
	identity provider.Identity
	pools    []string
	validate func() error
	open     func(*telemetry.Emitter) (adapter, error)
}

func each[C settings[C], A adapter](served []Served[C], open func(C, *telemetry.Emitter) (A, error)) []configured {
	var out []configured
	for _, s := range served {
		out = append(out, configured{s.Config.Identity(), s.Pools, s.Config.Validate, func(e *telemetry.Emitter) (adapter, error) {
			return open(s.Config, e)
		}})
	}
	return out
}

// Validate names the key that is wrong.
func (p Providers) Validate() error {
	var all []error
	pools, identities := map[string]bool{}, map[provider.Identity]bool{}
	for _, c := range p.all() {
		if err := c.validate(); err != nil {
			all = append(all, fmt.Errorf("providers: %w", err))
		}
		if identities[c.identity] {
			all = append(all, fmt.Errorf("providers: %s %s is configured twice", c.identity.Provider, c.identity.Instance))
		}
		identities[c.identity] = true
		for _, pool := range c.pools {
			if pools[pool] {
				all = append(all, fmt.Errorf("providers: pool %q is served twice", pool))
			}
			pools[pool] = true
		}
	}
	return errors.Join(all...)
}

// use opens all providers and has the engine use them. closeAll is to be called after an error, too.
func (p Providers) use(engine *workflow.Engine, emitter *telemetry.Emitter) (closeAll func(), err error) {
	var opened []adapter
	closeAll = func() {
		for _, a := range opened {
			a.Close()
		}
	}
	for _, c := range p.all() {
		a, err := c.open(emitter)
		if err != nil {
			return closeAll, err
		}
		opened = append(opened, a)
		engine.Use(a, c.pools...)
	}
	return closeAll, nil
}
