package eda

import (
	"errors"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider"
)

// Config is one `eda` entry of the `providers` section.
type Config struct {
	Instance  string            `yaml:"instance"`
	Webhook   provider.Endpoint `yaml:"webhook"`
	Hub       provider.Endpoint `yaml:"hub"` // Kubernetes API with the resources
	Namespace string            `yaml:"namespace"`
	Create    string            `yaml:"create"` // paths that the rulebook matches
	Delete    string            `yaml:"delete"`
	Watch     time.Duration     `yaml:"watch"`      // between two looks at a resource's marks
	Settle    time.Duration     `yaml:"settle"`     // a post whose answer was lost has arrived by then, or never will
	BeginTime time.Duration     `yaml:"begin_time"` // a create whose playbook has left no mark by then was lost; 0: job_time decides
	JobTime   time.Duration     `yaml:"job_time"`   // a job that is not over then is given up; 0: workflow.job_time
}

// DefaultConfig has the operator's endpoints and times.
func DefaultConfig() Config {
	return Config{
		Instance: "default", Namespace: "osac", Create: "/create-compute-instance", Delete: "/delete-compute-instance",
		Watch: time.Second, Settle: 30 * time.Second, BeginTime: 15 * time.Minute,
		Webhook: provider.Endpoint{Timeout: 10 * time.Second}, Hub: provider.Endpoint{Timeout: 10 * time.Second},
	}
}

// Default is DefaultConfig.
func (Config) Default() Config { return DefaultConfig() }

// Identity is eda and the configured instance.
func (c Config) Identity() provider.Identity {
	return provider.Identity{Provider: Name, Instance: c.Instance}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	err := errors.Join(c.Webhook.Validate("webhook"), c.Hub.Validate("hub"))
	if c.BeginTime != 0 && c.BeginTime < c.Settle || c.JobTime < 0 {
		err = errors.Join(err, errors.New("begin_time must be 0 or at least settle, job_time not negative"))
	}
	if c.Instance == "" || c.Namespace == "" || c.Create == "" || c.Delete == "" || c.Watch <= 0 || c.Settle < 0 {
		err = errors.Join(err, errors.New("instance, namespace, create and delete must be set, watch must be positive"))
	}
	if err != nil {
		return fmt.Errorf("eda %s: %w", c.Instance, err)
	}
	return nil
}
