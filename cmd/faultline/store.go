package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/embedded/engine"
	"github.com/faultline-io/faultline/internal/service"
)

// storeConfig is the configuration of `faultline store`.
type storeConfig struct {
	Store     embedded.Config         `yaml:"store"`
	Log       service.LogConfig       `yaml:"log"`
	Telemetry service.TelemetryConfig `yaml:"telemetry"` // spans of its own requests; off by default
}

// Validate names the key that is wrong.
func (c storeConfig) Validate() error {
	return errors.Join(c.Log.Validate(), c.Telemetry.Validate(), c.Store.Validate())
}

func storeCommand() *cobra.Command {
	path := ""
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Run the embedded ClickHouse for one host, on loopback only; look after any store",
		Long: `Runs the embedded ClickHouse, on loopback only. Its configuration stands under three keys:

  store: {data_dir: /var/lib/faultline/store, listen: 127.0.0.1:8123, fsync: true}
  log: {level: info}
  telemetry: {endpoint: ""}`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(path, storeConfig{Store: embedded.DefaultConfig(), Log: service.DefaultLogConfig()})
			if err != nil {
				return err
			}
			tracing, err := service.StartTracing(cmd.Context(), cfg.Telemetry, "store")
			if err != nil {
				return err
			}
			cfg.Store.Wrap = tracing.Wrap
			err = embedded.Run(cmd.Context(), cfg.Store, cfg.Log.NewLogger(os.Stderr, "store"))
			return errors.Join(err, tracing.Close(cmd.Context()))
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "YAML configuration, with the top keys store, log and telemetry")
	cmd.AddCommand(statsCommand(), retentionCommand())
	return cmd
}

func setupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Fetch what this machine needs (the embedded ClickHouse, by npm), into the user's cache",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cache, err := engine.CacheDir("")
			if err != nil {
				return err
			}
			_, err = engine.Install(cmd.Context(), cache, cmd.ErrOrStderr())
			return err
		},
	}
}
