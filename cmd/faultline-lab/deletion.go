package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/lab/provided"
)

// errValidation is the end of an experiment in which something did not hold.
var errValidation = errors.New("not every validation holds")

func deletionCommand() *cobra.Command {
	kind, template, keep, asJSON := "", "", "", false
	cmd := &cobra.Command{
		Use:   "delete-during-provision",
		Short: "Delete an allocation while a provider works on it, and check what is shown and what is left",
		Long: `Runs a provisioner, a simulated provider and a hub in this process, cancels an allocation while its
provision job runs, and prints each validation: six for AAP, five for EDA. Exit status 1 if one fails.

--template chooses how the provider's work goes: ocp_virt_vm (well), late_machine, run_forever,
ignore_cancel, no_annotation.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if kind != "aap" && kind != "eda" {
				return fmt.Errorf("--provider: %q is neither aap nor eda", kind)
			}
			if known := provided.DeletionTemplates(); !slices.Contains(known, template) {
				return fmt.Errorf("--template: %q is none of %s", template, strings.Join(known, ", "))
			}
			dir, done, err := workFolder(keep)
			if err != nil {
				return err
			}
			defer done()
			c := provided.DefaultConfig(dir)
			takes := func(_ string, deletes bool) time.Duration {
				if deletes {
					return 500 * time.Millisecond
				}
				return 2 * time.Second
			}
			c.AAP.Takes, c.EDA.Takes, c.Poll = takes, takes, 100*time.Millisecond
			p, err := provided.Start(cmd.Context(), c)
			if err != nil {
				return err
			}
			d, err := p.DeleteDuringProvision(cmd.Context(), kind, template)
			if err := errors.Join(err, p.Close(cmd.Context())); err != nil {
				return err
			}
			if err := printDeletion(cmd.OutOrStdout(), d, asJSON); err != nil {
				return err
			}
			if d.Passed != len(d.Validations) {
				return errValidation
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&kind, "provider", "aap", "aap or eda")
	cmd.Flags().StringVar(&template, "template", "ocp_virt_vm", "how the provider's work goes")
	cmd.Flags().StringVar(&keep, "data", "", "folder to keep the telemetry in (default: none is kept)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return cmd
}

func printDeletion(w io.Writer, d provided.Deletion, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(d)
	}
	fmt.Fprintf(w, "%s, deleted while %s provisions it\n", d.AllocationID, d.Provider)
	for _, v := range d.Validations {
		mark := "ok  "
		if !v.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "  %d %s %s\n         %s\n", v.Number, mark, v.Name, v.Seen)
	}
	_, err := fmt.Fprintf(w, "%d of %d validations hold\n", d.Passed, len(d.Validations))
	return err
}

// workFolder is the given folder, made where it is missing, or one that done removes.
func workFolder(keep string) (dir string, done func(), err error) {
	if keep != "" {
		return keep, func() {}, os.MkdirAll(keep, 0o700)
	}
	dir, err = os.MkdirTemp("", "faultline-lab-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
