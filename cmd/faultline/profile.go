package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/table"
)

func profileCommand() *cobra.Command {
	cmd := group("profile", "Check a profile, and see what it extracts")
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Say what is wrong with a profile, with line numbers",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := profile.Load(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: profile %s is well-formed: %d layers\n", args[0], p.Name, len(p.Layers))
			return err
		},
	}
	line, service := "", ""
	explain := &cobra.Command{
		Use:   "explain FILE --line '…'",
		Short: "Show which identifiers a profile finds in a line",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := profile.Load(args[0])
			if err != nil {
				return err
			}
			keys := p.Keys(&record.Record{Signal: record.Log, Service: service, Body: line})
			if len(keys) == 0 {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "no identifier found")
				return err
			}
			for _, k := range keys {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\n", k.Kind.Attribute(), table.Clean(k.ID)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	explain.Flags().StringVar(&line, "line", "", "the line")
	explain.Flags().StringVar(&service, "service", "", "service.name of the line's emitter")
	cmd.AddCommand(check, explain)
	return cmd
}
