package main

import "github.com/spf13/cobra"

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "faultline-lab",
		Short: "A simulated platform, the faults that it can make, and what Faultline says of them",
		Long: `The lab is a platform around a real provisioner: clients, an ingress, an API, providers, nodes. Everything talks over real
sockets, and what fails, fails for real. faultline up runs it where this program lies beside it.

See what can go wrong:   faultline-lab list
Make it go wrong:        faultline-lab inject cert_expired`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), planCommand(), injectCommand(), healCommand(), faultsCommand(), scoreCommand(), matrixCommand(), alertsCommand(), profileCommand(), examplesCommand(),
		deletionCommand(), latencyCommand(), benchCommand(), truthCommand())
	return root
}
