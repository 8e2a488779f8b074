package workflow

import (
	"errors"
	"time"
)

// Config is the `workflow` section.
type Config struct {
	Tick          time.Duration `yaml:"tick"`           // longest wait before workflows are looked at again
	Lease         time.Duration `yaml:"lease"`          // a replica that dies holds the workflows at hand this long
	Placement     time.Duration `yaml:"placement"`      // an allocation without a node fails after this long
	CapacityRetry time.Duration `yaml:"capacity_retry"` // between two tries to place
	ClaimTimeout  time.Duration `yaml:"claim_timeout"`  // a task that nobody claims expires after this long
	Attempts      int           `yaml:"attempts"`       // tasks of one step
	Claims        int           `yaml:"claims"`         // claims of one task; beyond them a lost task fails
	RetryWait     time.Duration `yaml:"retry_wait"`     // after a failed task, launch or deprovision
	JobTime       time.Duration `yaml:"job_time"`       // a provider's job that is not over then is canceled, or given up
	JobLease      time.Duration `yaml:"job_lease"`      // a driver that dies holds its jobs this long; longer than all calls of one look
	CancelTime    time.Duration `yaml:"cancel_time"`    // a canceled job that goes on after this long has ignored the cancel
	Launches      int           `yaml:"launches"`       // launches that are refused, before the job fails
}

// DefaultConfig suits nodes that boot for minutes.
func DefaultConfig() Config {
	return Config{
		Tick: time.Second, Lease: 10 * time.Second, Placement: 10 * time.Minute, CapacityRetry: 5 * time.Second,
		ClaimTimeout: 2 * time.Minute, Attempts: 3, Claims: 3, RetryWait: 15 * time.Second,
		JobTime: time.Hour, JobLease: 2 * time.Minute, CancelTime: 5 * time.Minute, Launches: 5,
	}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.Tick <= 0 || c.Lease <= 0 || c.Placement <= 0 || c.CapacityRetry <= 0 || c.ClaimTimeout <= 0 || c.JobTime <= 0 || c.JobLease <= 0 || c.CancelTime <= 0 || c.RetryWait < 0 {
		return errors.New("workflow: tick, lease, placement, capacity_retry, claim_timeout, job_time, job_lease and cancel_time must be positive, retry_wait not negative")
	}
	if c.Attempts < 1 || c.Claims < 1 || c.Launches < 1 {
		return errors.New("workflow: attempts, claims and launches must be at least 1")
	}
	return nil
}
