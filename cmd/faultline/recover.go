package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
)

// errRefused is the error of a recovery that the provisioner does not allow. What it said is in the error
// around it.
var errRefused = errors.New("refused")

// recoverCommand is what operators do when something is stuck. Its actions are those of the provisioner's
// table.
func recoverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "See what is stuck at the provisioner, and move it: force a release, lift a fence, repair the outbox …",
		Long: `Speaks to the reference controller (faultline-provisioner), which decides: every action has guards, and one that
is refused says which guard, what would satisfy it, and what is legal instead. Each is written to the audit log
with the verdict that justified it, and stands on the allocation's timeline.

  faultline recover stuck                                     what is stuck, who owns the next move, what is legal now
  faultline recover force-release a-1 --reason "…" --dry-run  the same checks, nothing changed
  faultline recover force-release a-1 --reason "…"
  faultline recover audit --allocation a-1                    who did what, and what was refused

An action may be sent again under its --key: it is done once. Roles: viewer < operator < admin.
Exit status: 0 done; 5 refused by a guard or for want of a role; 1 anything else.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			text := fmt.Sprintf("there is no %q in faultline recover", args[0])
			cmd.SuggestionsMinimumDistance = 3
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("%s; did you mean %s?", text, strings.Join(near, " or "))
			}
			return errors.New(text + "; faultline recover --help lists what there is")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// A slip in the name is more use to know of than that its flags are not this command's.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}
	cmd.AddGroup(
		&cobra.Group{ID: "look", Title: "Look:"}, &cobra.Group{ID: string(recovery.Allocations), Title: "Allocations:"},
		&cobra.Group{ID: string(recovery.Nodes), Title: "Nodes:"}, &cobra.Group{ID: string(recovery.Messages), Title: "Messages of the outbox:"},
		&cobra.Group{ID: "access", Title: "Access:"})
	for _, look := range []*cobra.Command{recoverStuckCommand(), recoverActionsCommand(), recoverAuditCommand()} {
		look.GroupID = "look"
		cmd.AddCommand(look)
	}
	for _, a := range recovery.Actions() {
		cmd.AddCommand(recoverActionCommand(a))
	}
	token := recoverTokenCommand()
	token.GroupID = "access"
	cmd.AddCommand(token)
	return cmd
}

// wantsEvidence says whether a guard of the action asks for somebody's word that nothing runs any more.
func wantsEvidence(a recovery.Action) bool {
	for _, g := range a.Guards {
		if g.Refusal == lifecycle.EvidenceMissing {
			return true
		}
	}
	return false
}

// explain is the long help of an action.
func explain(a recovery.Action) string {
	var b strings.Builder
	b.WriteString(wrap(a.Does, "") + "\n\n" + wrap("When: "+a.When, "  ") + wrap("Role: "+a.Role.String(), "  ") + wrap("Moves: "+a.MovesText(), "  "))
	b.WriteString("\nRefused unless each guard is satisfied:\n")
	for _, g := range a.Guards {
		b.WriteString(wrap("  "+g.Name+": "+g.SatisfiedBy(), "      "))
	}
	b.WriteString("\nExit status: 0 done, or would be; 5 refused; 1 anything else.")
	return b.String()
}

// wrap breaks text into lines of a terminal; those that follow the first are indented.
func wrap(text, indent string) string {
	const width = 110
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var b strings.Builder
	line := lead
	for _, word := range strings.Fields(text) {
		if len(line)+len(word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}
