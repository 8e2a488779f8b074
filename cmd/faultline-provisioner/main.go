// Command faultline-provisioner runs the reference controller.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/provisioner"
)

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "faultline-provisioner:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:           "faultline-provisioner",
		Short:         "Run the reference controller: control API, node API, workflows, outbox",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(*cobra.Command, []string) error {
			c, err := config.Load(path, provisioner.DefaultConfig())
			if err != nil {
				return err
			}
			ctx, stop := service.SignalContext(context.Background())
			defer stop()
			return provisioner.Run(ctx, c, c.Log.NewLogger(os.Stderr, "provisioner"))
		},
	}
	c.Flags().StringVar(&path, "config", "", "YAML configuration file; without one, the defaults")
	return c
}
