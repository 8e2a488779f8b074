package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/lab"
)

func runCommand() *cobra.Command {
	path, export, count, stories := "", "", 0, []string(nil)
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the simulated platform against a provisioner (faultline up starts both)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(path, lab.DefaultConfig())
			if err != nil {
				return err
			}
			flags := cmd.Flags()
			if flags.Changed("export") {
				cfg.Export = export
			}
			if flags.Changed("count") {
				cfg.Count = count
			}
			if flags.Changed("story") {
				cfg.Stories = stories
			}
			if err := cfg.Validate(); err != nil {
				return err
			}
			return lab.Run(cmd.Context(), cfg, service.DefaultLogConfig().NewLogger(os.Stderr, "lab"))
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "YAML configuration")
	cmd.Flags().StringVar(&export, "export", "", "append everything that the lab says to this file, as OTLP/JSON lines")
	cmd.Flags().IntVar(&count, "count", 0, "allocations to make (default: without end)")
	cmd.Flags().StringSliceVar(&stories, "story", nil, "stories to play, comma-separated or repeated (default: all)")
	return cmd
}
