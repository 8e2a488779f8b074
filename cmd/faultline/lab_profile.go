package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/lab/score"
)

// profileOfLabCommand prints what a score judges by, for a run of one's own.
func profileOfLabCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "profile",
		Short: "Print the default profile's supplement with budgets at the lab's pace",
		Long: `What takes minutes on real machines takes seconds in the lab, and is overdue within seconds, too. A score judges by this
profile. A faultline up whose configuration names it (profile: FILE) does the same, and says of a step that never comes that it
is overdue while you look, not half an hour later.`,
		Example: "  faultline lab profile > lab-profile.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), score.Profile)
			return err
		},
	}
}
