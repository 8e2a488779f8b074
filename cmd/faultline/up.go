package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/embedded/engine"
	"github.com/faultline-io/faultline/internal/lab"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/supervise"
	"github.com/faultline-io/faultline/provisioner"
)

// upConfig says where the parts of a one-machine run listen and keep their data.
type upConfig struct {
	DataDir string `yaml:"data_dir"`
	Store   string `yaml:"store"`
	OTLP    struct {
		GRPC string `yaml:"grpc"`
		HTTP string `yaml:"http"`
	} `yaml:"otlp"`
	CollectorHealth  string `yaml:"collector_health"`
	CollectorMetrics string `yaml:"collector_metrics"`
	AgentHealth      string `yaml:"agent_health"` // of the agent Collector, which reads the log files of the lab's machines
	AgentMetrics     string `yaml:"agent_metrics"`
	Correlator       string `yaml:"correlator"`
	Provisioner      struct {
		Control string `yaml:"control"`
		Node    string `yaml:"node"`
		Ops     string `yaml:"ops"`
	} `yaml:"provisioner"`
	RunLab  bool       `yaml:"run_lab"` // run the provisioner and the simulated platform
	Lab     lab.Config `yaml:"lab"`
	Record  bool       `yaml:"record"` // also write what is stored as OTLP/JSON lines, into the data folder
	Profile string     `yaml:"profile"`
	// Retention is what the store keeps for how many days; left as it is where it is not stated.
	Retention *schema.Retention `yaml:"retention"`
}

func defaultUpConfig() upConfig {
	c := upConfig{
		DataDir: "data", Store: "127.0.0.1:9123", CollectorHealth: "127.0.0.1:13133", CollectorMetrics: "127.0.0.1:8888",
		AgentHealth: "127.0.0.1:13134", AgentMetrics: "127.0.0.1:8889",
		Correlator: "127.0.0.1:8680", RunLab: true, Lab: lab.DefaultConfig(),
	}
	p := provisioner.DefaultConfig()
	c.Provisioner.Control, c.Provisioner.Node, c.Provisioner.Ops = p.Control, p.Node, p.Ops
	c.OTLP.GRPC, c.OTLP.HTTP = "127.0.0.1:4317", "127.0.0.1:4318"
	return c
}

// Validate names the key that is wrong.
func (c upConfig) Validate() error {
	if c.DataDir == "" {
		return errors.New("data_dir: is empty")
	}
	if err := c.Lab.Validate(); err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	if c.Retention != nil {
		if err := c.Retention.Validate(); err != nil {
			return fmt.Errorf("retention: %w", err)
		}
	}
	return nil
}

func upCommand() *cobra.Command {
	path, data := "", ""
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run all of it on this machine: store, collector, correlator, provisioner and lab; Ctrl-C stops it",
		Long: `Starts an embedded ClickHouse, the Collector, the correlator, the provisioner and a simulated platform,
each as a process of its own, and restarts what dies. Everything is kept in the data folder.

FAULTLINE_CLICKHOUSE_DSN names a ClickHouse server to use instead of the embedded one.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(path, defaultUpConfig())
			if err != nil {
				return err
			}
			if data != "" {
				cfg.DataDir = data
			}
			return up(cmd.Context(), cfg, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "YAML configuration")
	cmd.Flags().StringVar(&data, "data", "", "data folder (default \"data\")")
	return cmd
}

func up(ctx context.Context, cfg upConfig, out io.Writer) error {
	if _, err := programs(); err != nil {
		return err // before anything is made
	}
	var err error
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(cfg.DataDir, "log"), 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	dsn := os.Getenv(schema.Variable)
	if dsn == "" {
		if dsn, err = setUpStore(ctx, cfg, out); err != nil {
			return err
		}
	}
	parts, err := cfg.parts(dsn)
	if err != nil {
		return err
	}
	if err := cfg.portsAreFree(ctx); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "faultline: starting, data in %s\n", cfg.DataDir)
	err = supervise.Run(ctx, parts, out, func() { cfg.whereToLook(out) })
	_, _ = fmt.Fprintln(out, "faultline: stopped")
	return err
}

// setUpStore fetches the engine where it is missing, makes the password, and gives the DSN.
func setUpStore(ctx context.Context, cfg upConfig, out io.Writer) (string, error) {
	cache, err := engine.CacheDir("")
	if err != nil {
		return "", err
	}
	if _, err := engine.Install(ctx, cache, out); err != nil {
		return "", err
	}
	password, err := embedded.EnsurePassword(filepath.Join(cfg.DataDir, "store", "password"))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://%s:%s@%s/%s", embedded.User, password, cfg.Store, embedded.Database), nil
}

// portsAreFree finds a taken port before anything is started, and says which.
func (c upConfig) portsAreFree(ctx context.Context) error {
	addresses := map[string]string{
		"otlp.grpc": c.OTLP.GRPC, "otlp.http": c.OTLP.HTTP, "collector_health": c.CollectorHealth,
		"collector_metrics": c.CollectorMetrics, "correlator": c.Correlator,
	}
	if os.Getenv(schema.Variable) == "" {
		addresses["store"] = c.Store
	}
	if c.RunLab {
		addresses["provisioner.control"], addresses["provisioner.node"], addresses["provisioner.ops"] = c.Provisioner.Control, c.Provisioner.Node, c.Provisioner.Ops
		if c.Lab.ProvisionerFaults != "" {
			addresses["lab.provisioner_faults"] = c.Lab.ProvisionerFaults
		}
		addresses["lab.ingress"], addresses["lab.api"], addresses["lab.auth"] = c.Lab.Ingress, c.Lab.API, c.Lab.Auth
	}
	if c.RunLab && c.Lab.LogFiles {
		addresses["agent_health"], addresses["agent_metrics"] = c.AgentHealth, c.AgentMetrics
	}
	if c.RunLab && c.Lab.Providers {
		addresses["lab.hub"], addresses["lab.aap"], addresses["lab.eda"] = c.Lab.Hub, c.Lab.AAP, c.Lab.EDA
	}
	var taken []error
	for key, address := range addresses {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		if err != nil {
			taken = append(taken, fmt.Errorf("%s: %w (another address goes into a file: faultline up --config FILE)", key, err))
			continue
		}
		_ = l.Close()
	}
	return errors.Join(taken...)
}

func (c upConfig) whereToLook(out io.Writer) {
	flag := ""
	if c.Correlator != defaultUpConfig().Correlator {
		flag = " --server http://" + c.Correlator
	}
	recovering := ""
	if c.RunLab && c.Provisioner.Control == defaultUpConfig().Provisioner.Control {
		recovering = "\n  bin/faultline recover stuck           what is stuck, and what may be done about it"
	}
	_, _ = fmt.Fprintf(out, `
faultline is up. In another terminal:

  bin/faultline list%[2]s                    allocations and their states
  bin/faultline list%[2]s --state failed     those that failed
  bin/faultline verdict%[2]s ID              whose fault, with the records that prove it
  bin/faultline timeline%[2]s ID             what happened, in every layer; ID may be any identifier%[6]s
  curl -s http://%[1]s/api/v1/allocations

  OTLP goes to %[3]s (gRPC) and http://%[4]s; logs are in %[5]s. Ctrl-C stops everything.
`, c.Correlator, flag, c.OTLP.GRPC, c.OTLP.HTTP, filepath.Join(c.DataDir, "log"), recovering)
}
