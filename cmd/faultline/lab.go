package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/lab"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/internal/supervise"
)

func labCommand() *cobra.Command {
	path, export, count, stories := "", "", 0, []string(nil)
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Run the simulated platform against a provisioner (faultline up does both)",
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
	cmd.AddCommand(injectCommand(), healCommand(), faultsCommand(), scoreCommand(), profileOfLabCommand(), examplesCommand(), deletionCommand(), latencyCommand())
	return cmd
}

// labParts are the provisioner, at the pace of the lab, and the simulated platform.
func (c upConfig) labParts(bin func(string) string, part func(name, ready string, command ...string) supervise.Part) ([]supervise.Part, error) {
	platform := c.Lab
	platform.Data = filepath.Join(c.DataDir, "lab")
	platform.Provisioner, platform.NodeAPI = "http://"+c.Provisioner.Control, c.Provisioner.Node
	platform.Telemetry.Endpoint = "http://" + c.OTLP.HTTP
	controller := lab.ProvisionerConfig(platform)
	controller.Control, controller.Node, controller.Ops = c.Provisioner.Control, c.Provisioner.Node, c.Provisioner.Ops
	controller.Telemetry.Endpoint = platform.Telemetry.Endpoint
	controller.Recovery.Verdicts = "http://" + c.Correlator // whoever recovers by hand has its verdict on record
	if platform.Export != "" {                              // the run is the lab's and the provisioner's telemetry
		controller.Telemetry.File = platform.Export + ".provisioner"
	}
	if err := os.MkdirAll(platform.Data, 0o700); err != nil {
		return nil, err
	}
	controllerPath, err := c.write("provisioner.yaml", controller)
	if err != nil {
		return nil, err
	}
	platformPath, err := c.write("lab.yaml", platform)
	if err != nil {
		return nil, err
	}
	player := part("lab", "", bin("faultline"), "lab", "--config", platformPath)
	player.Finite = platform.Count > 0 || platform.Duration > 0
	out := []supervise.Part{part("provisioner", "http://"+controller.Ops+"/readyz", bin("faultline-provisioner"), "--config", controllerPath)}
	if platform.LogFiles {
		out = append(out, c.agentPart(part("agent-collector", ""), bin("faultline-collector"), filepath.Join(platform.Data, "nodes")))
	}
	return append(out, player), nil
}
