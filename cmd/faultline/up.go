package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/addon"
	"github.com/faultline-io/faultline/internal/bearer"
	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/embedded/engine"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/supervise"
	"github.com/faultline-io/faultline/provisioner"
)

// upConfig says where the parts of a one-host run listen and keep their data.
type upConfig struct {
	DataDir string `yaml:"data_dir"`
	Store   string `yaml:"store"`
	OTLP    struct {
		GRPC string `yaml:"grpc"`
		HTTP string `yaml:"http"`
	} `yaml:"otlp"`
	CollectorHealth  string `yaml:"collector_health"`
	CollectorMetrics string `yaml:"collector_metrics"`
	AgentHealth      string `yaml:"agent_health"` // of the agent Collector, which reads the log files of the lab's nodes
	AgentMetrics     string `yaml:"agent_metrics"`
	Correlator       string `yaml:"correlator"`
	Provisioner      struct {
		Control string `yaml:"control"`
		Node    string `yaml:"node"`
		Ops     string `yaml:"ops"`
	} `yaml:"provisioner"`
	RunLab  bool         `yaml:"run_lab"` // run the provisioner and the simulated platform
	Lab     yaml.Node    `yaml:"lab"`     // the lab's own section: faultline-lab reads it
	Record  bool         `yaml:"record"`  // also write what is stored as OTLP/JSON lines, into the data folder
	Profile string       `yaml:"profile"`
	Alerts  alertsConfig `yaml:"alerts"` // Prometheus and Alertmanager, where they are installed
	// Retention is what the store keeps for how many days; left as it is where it is not stated.
	Retention *schema.Retention `yaml:"retention"`
}

func defaultUpConfig() upConfig {
	c := upConfig{
		DataDir: "data", Store: "127.0.0.1:9123", CollectorHealth: "127.0.0.1:13133", CollectorMetrics: "127.0.0.1:8888",
		AgentHealth: "127.0.0.1:13134", AgentMetrics: "127.0.0.1:8889",
		Correlator: "127.0.0.1:8680", RunLab: true, Alerts: defaultAlerts(),
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
	if c.Retention != nil {
		if err := c.Retention.Validate(); err != nil {
			return fmt.Errorf("retention: %w", err)
		}
	}
	if err := c.Alerts.Validate(); err != nil {
		return fmt.Errorf("alerts.%w", err)
	}
	return nil
}

func upCommand() *cobra.Command {
	path, data, noLab, noAlerts := "", "", false, false
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run all of it on this machine: store, collector, correlator, provisioner and lab; Ctrl-C stops it",
		Long: `Starts an embedded ClickHouse, the Collector, the correlator, the provisioner and a simulated platform,
each as a process of its own, and restarts what dies. Everything is kept in the data folder.

The provisioner and the simulated platform are started where faultline-lab lies beside this program. --no-lab leaves them
out, for a platform of your own.

Prometheus, with the alert rules, and Alertmanager are started where they are installed. --no-alerts leaves them out.

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
			if noLab {
				cfg.RunLab = false
			}
			if noAlerts {
				cfg.Alerts.Prometheus, cfg.Alerts.Alertmanager = "", ""
			}
			return up(cmd.Context(), cfg, path, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "YAML configuration")
	cmd.Flags().StringVar(&data, "data", "", "data folder (default \"data\")")
	cmd.Flags().BoolVar(&noLab, "no-lab", false, "run neither the provisioner nor the simulated platform")
	cmd.Flags().BoolVar(&noAlerts, "no-alerts", false, "run neither Prometheus nor Alertmanager")
	return cmd
}

// up runs everything until ctx ends. file is the one that cfg was read from; empty: none.
func up(ctx context.Context, cfg upConfig, file string, out io.Writer) error {
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
	lab, err := cfg.askLab(ctx, file, out)
	if err != nil {
		return err
	}
	cfg.RunLab = len(lab.Processes) > 0
	dsn := os.Getenv(schema.Variable)
	if dsn == "" {
		if dsn, err = setUpStore(ctx, cfg, out); err != nil {
			return err
		}
	}
	if err := cfg.setUpAccess(); err != nil {
		return err
	}
	alerts, err := cfg.Alerts.find(out)
	if err != nil {
		return err
	}
	parts, err := cfg.parts(dsn, lab, alerts)
	if err != nil {
		return err
	}
	if err := cfg.portsAreFree(ctx, lab, alerts); err != nil {
		return err
	}
	if forget, err := bearer.Leave(ctx, cfg.server(), cfg.tokenFile()); err != nil {
		_, _ = fmt.Fprintf(out, "faultline: %v; say --token-file %s to every command\n", err, cfg.tokenFile())
	} else {
		defer func() { _ = forget() }() // the next one that runs here leaves its own
	}
	_, _ = fmt.Fprintf(out, "faultline: starting, data in %s\n", cfg.DataDir)
	err = supervise.Run(ctx, parts, out, func() { cfg.whereToLook(out, alerts) })
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
func (c upConfig) portsAreFree(ctx context.Context, lab addon.Plan, alerts alerting) error {
	addresses := map[string]string{
		"otlp.grpc": c.OTLP.GRPC, "otlp.http": c.OTLP.HTTP, "collector_health": c.CollectorHealth,
		"collector_metrics": c.CollectorMetrics, "correlator": c.Correlator,
	}
	if os.Getenv(schema.Variable) == "" {
		addresses["store"] = c.Store
	}
	maps.Copy(addresses, lab.Addresses)
	maps.Copy(addresses, alerts.addresses())
	if lab.NodeLogs != "" {
		addresses["agent_health"], addresses["agent_metrics"] = c.AgentHealth, c.AgentMetrics
	}
	var taken []error
	for _, key := range slices.Sorted(maps.Keys(addresses)) {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addresses[key])
		if err != nil {
			taken = append(taken, fmt.Errorf("%s: %w", key, err))
			continue
		}
		_ = l.Close()
	}
	if len(taken) > 0 {
		taken = append(taken, errors.New("does a faultline up run already? Another address goes into a file: faultline up --config FILE"))
	}
	return errors.Join(taken...)
}

func (c upConfig) whereToLook(out io.Writer, alerts alerting) {
	flag := ""
	if c.Correlator != defaultUpConfig().Correlator {
		flag = " --server " + c.server()
	}
	recovering := ""
	if c.RunLab && c.Provisioner.Control == defaultUpConfig().Provisioner.Control {
		recovering = "\n  bin/faultline recover stuck           what is stuck, and what may be done about it" +
			"\n  bin/faultline-lab inject cert_expired a real fault; bin/faultline-lab list names them all"
	}
	_, _ = fmt.Fprintf(out, `
faultline is up. In a browser: %[1]s/ui/ (it asks for the token that is in %[7]s). In another terminal:

  bin/faultline list%[2]s                    allocations, and whose trouble they are
  bin/faultline watch%[2]s                   the same, kept in view
  bin/faultline incidents%[2]s               one cause, its victims
  bin/faultline verdict%[2]s ID              whose fault, with the records that prove it
  bin/faultline timeline%[2]s ID             what happened, in every layer; ID may be any identifier%[6]s
  curl -s -H "Authorization: Bearer $(cat %[7]s)" %[1]s/api/v1/allocations

  OTLP goes to %[3]s (gRPC) and http://%[4]s; logs are in %[5]s. Ctrl-C stops everything.%[8]s
`, c.server(), flag, c.OTLP.GRPC, c.OTLP.HTTP, filepath.Join(c.DataDir, "log"), recovering, c.tokenFile(), alerts.where())
}
