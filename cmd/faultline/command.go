package main

import (
	"github.com/spf13/cobra"
)

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "faultline",
		Short: "Whose fault is a stuck allocation: deploy, certificate, ingress, API, workflow, provider or node?",
		Long: `Faultline joins the records of a node allocation over all layers into one timeline and says which
layer owns the trouble, with the records that prove it.

Ask a running one whose fault it is:  faultline list, then faultline verdict ID
Try it on a file, no server needed:   faultline analyze examples/*.jsonl
Run all of it on this machine:        faultline up`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(nearFlag)
	root.AddCommand(upCommand(), analyzeCommand(), timelineCommand(), verdictCommand(), listCommand(), watchCommand(), eventsCommand(), searchCommand(), stuckCommand(), driftCommand(), incidentsCommand(), recoverCommand(), rulesCommand(), profileCommand(), storeCommand(), migrateCommand(), setupCommand(), contextCommand(), exitCodesTopic(),
		movedCommand("lab", "faultline-lab"), movedCommand("bench", "faultline-lab bench"))
	return root
}
