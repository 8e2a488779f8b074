package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/lab/score"
)

// profileCommand prints what a score judges by, for a run of one's own.
func profileCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "profile",
		Short: "Print the default profile's supplement with budgets at the lab's pace",
		Long: `What takes minutes on real nodes takes seconds in the lab, and is overdue within seconds, too. A score judges by this
profile. A faultline up whose configuration names it (profile: FILE) does the same, and says of a step that never comes that it
is overdue while you look, not half an hour later.`,
		Example: "  faultline-lab profile > lab-profile.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), score.Profile)
			return err
		},
	}
}
