package provisioner

import (
	"errors"
	"fmt"

	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Providers is the `providers` section: who serves which pools. Pools that nobody serves are those of
// node agents.
type Providers struct {
	AAP []AAP `yaml:"aap"`
	EDA []EDA `yaml:"eda"`
}

// AAP is one automation controller and its pools.
type AAP struct {
	Pools      []string `yaml:"pools"`
	aap.Config `yaml:",inline"`
}

// EDA is one rulebook activation and its pools.
type EDA struct {
	Pools      []string `yaml:"pools"`
	eda.Config `yaml:",inline"`
}

// UnmarshalYAML reads over the defaults.
func (a *AAP) UnmarshalYAML(read func(any) error) error {
	type plain AAP
	p := plain{Config: aap.DefaultConfig()}
	err := read(&p)
	*a = AAP(p)
	return err
}

// UnmarshalYAML reads over the defaults.
func (e *EDA) UnmarshalYAML(read func(any) error) error {
	type plain EDA
	p := plain{Config: eda.DefaultConfig()}
	err := read(&p)
	*e = EDA(p)
	return err
}

// Validate names the key that is wrong.
func (p Providers) Validate() error {
	var all []error
	pools, names := map[string]bool{}, map[string]bool{}
	check := func(name string, served []string, err error) {
		if err != nil {
			all = append(all, fmt.Errorf("providers: %w", err))
		}
		if names[name] {
			all = append(all, fmt.Errorf("providers: %s is configured twice", name))
		}
		names[name] = true
		for _, pool := range served {
			if pools[pool] {
				all = append(all, fmt.Errorf("providers: pool %q is served twice", pool))
			}
			pools[pool] = true
		}
	}
	for _, a := range p.AAP {
		check(aap.Name+" "+a.Instance, a.Pools, a.Config.Validate())
	}
	for _, e := range p.EDA {
		check(eda.Name+" "+e.Instance, e.Pools, e.Config.Validate())
	}
	return errors.Join(all...)
}

// use opens all providers and has the engine use them.
func (p Providers) use(engine *workflow.Engine, says *telemetry.Source) (closeAll func(), err error) {
	var opened []interface{ Close() }
	closeAll = func() {
		for _, o := range opened {
			o.Close()
		}
	}
	take := func(one provider.Provider, c interface{ Close() }, pools []string) {
		opened = append(opened, c)
		engine.Use(one, pools...)
	}
	for _, a := range p.AAP {
		one, err := aap.Open(a.Config, says)
		if err != nil {
			return closeAll, err
		}
		take(one, one, a.Pools)
	}
	for _, e := range p.EDA {
		one, err := eda.Open(e.Config, says)
		if err != nil {
			return closeAll, err
		}
		take(one, one, e.Pools)
	}
	return closeAll, nil
}
