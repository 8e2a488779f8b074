package lab

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Config is the whole configuration of a lab.
type Config struct {
	Data        string           `yaml:"data"`        // folder for certificates and truth.jsonl
	Export      string           `yaml:"export"`      // OTLP/JSON lines of everything the lab says; empty: none
	Provisioner string           `yaml:"provisioner"` // base URL of its control API
	NodeAPI     string           `yaml:"node_api"`    // address of its node API
	Ingress     string           `yaml:"ingress"`     // addresses of the lab's own parts; port 0: a free one
	API         string           `yaml:"api"`
	Auth        string           `yaml:"auth"`
	DeadAPI     string           `yaml:"dead_api"`  // where the API of region west should listen, and nobody may
	Providers   bool             `yaml:"providers"` // also run a hub, an AAP and an EDA, and tell their stories
	Hub         string           `yaml:"hub"`       // their addresses; port 0 is for tests only: the provisioner must know them
	AAP         string           `yaml:"aap"`
	EDA         string           `yaml:"eda"`
	LogFiles    bool             `yaml:"log_files"` // nodes keep their logs in files, for an agent Collector; else lines go out as OTLP
	Every       time.Duration    `yaml:"every"`     // between two new allocations
	Count       int              `yaml:"count"`     // allocations to make; 0: for ever
	Duration    time.Duration    `yaml:"duration"`  // for how long to make new ones; 0: for ever
	Nodes       int              `yaml:"nodes"`     // healthy nodes
	Seed        uint64           `yaml:"seed"`      // of the schedule
	Stories     []string         `yaml:"stories"`   // to play; empty: all
	Scale       float64          `yaml:"scale"`     // of every duration in the simulation: 0.5 is twice as fast
	Open        int              `yaml:"open"`      // stories at one time, at most; 0: any number
	Network     string           `yaml:"network"`   // of nodes: namespace (one of the kernel's for each), proxy, or auto: the first where it can be had
	Name        string           `yaml:"name"`      // before the names of its nodes, where several labs share a store
	Telemetry   telemetry.Config `yaml:"telemetry"`

	// ProvisionerFaults is where the provisioner listens for faults of its own; empty: it doesn't.
	ProvisionerFaults string `yaml:"provisioner_faults"`

	started func(*lab) // of tests: called when the nodes are there and before any of them runs
}

// DefaultConfig starts an allocation every two seconds, for ever.
func DefaultConfig() Config {
	c := Config{
		Data: "lab", Provisioner: "http://127.0.0.1:8681", NodeAPI: "127.0.0.1:8683", Ingress: "127.0.0.1:9443",
		API: "127.0.0.1:9481", Auth: "127.0.0.1:9482", DeadAPI: "127.0.0.1:9483",
		Hub: "127.0.0.1:9484", AAP: "127.0.0.1:9485", EDA: "127.0.0.1:9486",
		ProvisionerFaults: "127.0.0.1:9487", Every: 2 * time.Second, Nodes: 6, Network: networkAuto, Seed: 1, Scale: 1, Telemetry: telemetry.DefaultConfig(),
	}
	c.Telemetry.Heartbeat = 2 * time.Second
	return c
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	var own []error
	say := func(format string, args ...any) { own = append(own, fmt.Errorf(format, args...)) }
	if c.Data == "" {
		say("data: must be set")
	}
	if u, err := url.Parse(c.Provisioner); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		say("provisioner: %q is no http URL", c.Provisioner)
	}
	for _, at := range []struct{ key, address string }{
		{"node_api", c.NodeAPI}, {"ingress", c.Ingress}, {"api", c.API}, {"auth", c.Auth}, {"dead_api", c.DeadAPI},
		{"hub", c.Hub}, {"aap", c.AAP}, {"eda", c.EDA},
	} {
		if _, port, err := net.SplitHostPort(at.address); err != nil || port == "" {
			say("%s: %q is no host:port", at.key, at.address)
		}
	}
	if c.Every <= 0 || c.Duration < 0 || c.Count < 0 {
		say("every must be positive, duration and count not negative")
	}
	if c.Nodes < 1 || c.Nodes > 100 {
		say("nodes: must be 1 to 100")
	}
	if !slices.Contains([]string{networkAuto, networkNamespace, networkProxy}, c.Network) {
		say("network: %q is none of auto, namespace, proxy", c.Network)
	}
	if c.Scale <= 0 || c.Scale > 100 {
		say("scale: must be above 0 and at most 100")
	}
	for _, name := range c.Stories {
		switch st, ok := storyNamed(name); {
		case !ok:
			say("stories: there is none called %q", name)
		case st.served && !c.Providers:
			say("stories: %q needs providers: true", name)
		}
	}
	return errors.Join(append(own, c.Telemetry.Validate())...)
}

// certLife is that of a node agent's certificate, before scaling.
const certLife = 10 * time.Minute

// ProvisionerConfig is a provisioner's configuration at the pace of the lab: agents must claim within
// seconds, and little is tried twice.
func ProvisionerConfig(c Config) provisioner.Config {
	p := provisioner.DefaultConfig()
	p.Database = c.databaseFile()
	p.Faults, p.PoolWait = c.ProvisionerFaults, poolWait
	p.Outbox.FirstWait, p.Outbox.LongestWait = c.scaled(time.Second), c.scaled(4*time.Second)
	p.Telemetry.Heartbeat = c.Telemetry.Heartbeat
	p.Workflow.Tick = c.scaled(250 * time.Millisecond)
	p.Workflow.Placement = c.scaled(time.Minute)
	p.Workflow.CapacityRetry = c.scaled(time.Second)
	p.Workflow.ClaimTimeout = c.scaled(5 * time.Second)
	p.Workflow.RetryWait = c.scaled(time.Second)
	p.Workflow.Attempts = 2
	p.Fleet.Lease = c.scaled(4 * time.Second)
	p.Authority.Folder, p.Authority.Life = pkiFolder(c.Data), max(c.scaled(certLife), time.Minute)
	p.Catalog = c.catalog()
	if c.Providers {
		p.Providers = c.providers()
		p.Workflow.JobTime, p.Workflow.CancelTime = c.scaled(time.Minute), c.scaled(10*time.Second)
	}
	return p
}

// nodeImage is the one that the lab's nodes can be provisioned with.
const nodeImage = "ubuntu-24.04"

// catalog is what the lab can provide: anything else is refused when it is asked for.
func (c Config) catalog() control.Catalog {
	offer := control.Catalog{Pools: []string{poolGeneral, poolBatch, poolEdge, poolArchive}, Templates: []string{nodeImage}}
	if c.Providers {
		offer.Pools = append(offer.Pools, poolAAP, poolEDA)
		offer.Templates = append(offer.Templates, hubsim.Templates()...)
	}
	return offer
}

// poolWait is longer than SQLite waits for a lock, and shorter than the ingress waits for an answer.
const poolWait = 7 * time.Second

func (c Config) scaled(d time.Duration) time.Duration { return time.Duration(float64(d) * c.Scale) }
