package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
)

func rulesCommand() *cobra.Command {
	asJSON, layer := false, ""
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Every rule: what it looks for, whose trouble it is then, and what to check next",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := correlator.Describe(rules.All())
			if layer != "" {
				kept := []correlator.Description{}
				for _, r := range c.Rules {
					if r.Layer == layer || r.Layer == "" {
						kept = append(kept, r)
					}
				}
				if !slices.ContainsFunc(kept, func(r correlator.Description) bool { return r.Layer == layer }) {
					return fmt.Errorf("--layer: no rule is about %q; `faultline rules` lists the layers that have some", layer)
				}
				c.Rules = kept
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return printJSON(out, c)
			}
			t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			_, _ = fmt.Fprintf(t, "RULE\tLAYER\tMECHANISM\tLOOKS FOR\n")
			for _, r := range c.Rules {
				_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.ID, orAny(r.Layer), orAny(r.Mechanism), r.Looks)
			}
			if err := t.Flush(); err != nil {
				return err
			}
			_, _ = fmt.Fprintf(out, "\n%d rules, version %s. Where several find a cause, the first of these decides:\n", len(c.Rules), c.RulesVersion)
			for i, name := range c.Tiebreaks {
				_, _ = fmt.Fprintf(out, "  %d. %s\n", i+1, name)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().StringVar(&layer, "layer", "", "only rules that may name this layer")
	return cmd
}

// orAny says that a rule takes its layer or mechanism from what it finds.
func orAny(s string) string {
	if s == "" {
		return "any"
	}
	return s
}
