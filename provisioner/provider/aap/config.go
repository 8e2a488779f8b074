package aap

import (
	"errors"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider"
)

// Config is one `aap` entry of the `providers` section.
type Config struct {
	Instance  string            `yaml:"instance"` // which controller; a rebuilt one is another instance
	API       provider.Endpoint `yaml:"api"`      // base URL ends in /api or /api/controller
	Hub       provider.Endpoint `yaml:"hub"`      // Kubernetes API with the resources
	Namespace string            `yaml:"namespace"`
	Prefix    string            `yaml:"prefix"` // of template names: PREFIX-create-compute-instance
	Poll      time.Duration     `yaml:"poll"`
	JobTime   time.Duration     `yaml:"job_time"` // a job that is not over then is canceled; 0: workflow.job_time
}

// DefaultConfig asks for a job's status every 30 seconds, as the operator does.
func DefaultConfig() Config {
	return Config{
		Instance: "default", Prefix: "osac", Namespace: "osac", Poll: 30 * time.Second,
		API: provider.Endpoint{Timeout: 30 * time.Second}, Hub: provider.Endpoint{Timeout: 10 * time.Second},
	}
}

// Default is DefaultConfig.
func (Config) Default() Config { return DefaultConfig() }

// Identity is aap and the configured instance.
func (c Config) Identity() provider.Identity {
	return provider.Identity{Provider: Name, Instance: c.Instance}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	err := errors.Join(c.API.Validate("api"), c.Hub.Validate("hub"))
	if c.Instance == "" || c.Namespace == "" || c.Prefix == "" || c.Poll <= 0 || c.JobTime < 0 {
		err = errors.Join(err, errors.New("instance, namespace and prefix must be set, poll must be positive, job_time not negative"))
	}
	if err != nil {
		return fmt.Errorf("aap %s: %w", c.Instance, err)
	}
	return nil
}
