package provisioner

import (
	"errors"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/chaos"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Config is the whole configuration of a provisioner.
type Config struct {
	Database  string            `yaml:"database"`  // SQLite file, or postgres://user:password@host/name
	Control   string            `yaml:"control"`   // address of the control API; for the API service only
	Node      string            `yaml:"node"`      // address of the node API; for the ingress only
	Ops       string            `yaml:"ops"`       // address of /healthz, /readyz and /metrics
	Slow      time.Duration     `yaml:"slow"`      // a transaction that takes longer is logged; 0: never
	PoolWait  time.Duration     `yaml:"pool_wait"` // for a free connection to the database; 0: as long as its caller
	Faults    string            `yaml:"faults"`    // address, of this machine alone, at which a lab may make faults; empty: nowhere
	Grace     time.Duration     `yaml:"grace"`     // for requests and telemetry at the end
	Log       service.LogConfig `yaml:"log"`
	Telemetry telemetry.Config  `yaml:"telemetry"`
	Workflow  workflow.Config   `yaml:"workflow"`
	Fleet     fleet.Config      `yaml:"fleet"`
	Authority authority.Config  `yaml:"authority"`
	Outbox    outbox.Config     `yaml:"outbox"`
	Providers Providers         `yaml:"providers"`
	Access    access.Config     `yaml:"access"` // who may use the control API; empty: everybody, on this machine only
	Recovery  recovery.Config   `yaml:"recovery"`
	Catalog   control.Catalog   `yaml:"catalog"` // what may be asked for; empty: anything
}

// DefaultConfig listens on this machine only.
func DefaultConfig() Config {
	return Config{
		Database: "provisioner.db", Control: "127.0.0.1:8681", Node: "127.0.0.1:8683", Ops: "127.0.0.1:8682",
		Slow: 250 * time.Millisecond, Grace: 10 * time.Second,
		Log: service.DefaultLogConfig(), Telemetry: telemetry.DefaultConfig(), Workflow: workflow.DefaultConfig(),
		Fleet: fleet.DefaultConfig(), Authority: authority.DefaultConfig(), Outbox: outbox.DefaultConfig(), Recovery: recovery.DefaultConfig(),
	}
}

// Validate names every key that is wrong.
func (c Config) Validate() error {
	var own []error
	if c.Database == "" {
		own = append(own, errors.New("database: must be set"))
	}
	if c.Control == "" || c.Node == "" || c.Ops == "" {
		own = append(own, errors.New("control, node and ops: must be set"))
	}
	if c.Grace <= 0 || c.Slow < 0 {
		own = append(own, errors.New("grace must be positive, slow not negative"))
	}
	return errors.Join(append(own, c.Log.Validate(), chaos.Validate(c.Faults), c.Telemetry.Validate(), c.Workflow.Validate(), c.Fleet.Validate(), c.Authority.Validate(), c.Outbox.Validate(), c.Providers.Validate(),
		c.Access.Validate(), c.Access.Guards("control", c.Control), c.Recovery.Validate(), c.Catalog.Validate())...)
}
