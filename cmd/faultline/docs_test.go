package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/faultline-io/faultline/internal/doctest"
)

// each goes through a command and those below it.
func each(cmd *cobra.Command, do func(*cobra.Command)) {
	if cmd.Hidden {
		return
	}
	do(cmd)
	for _, sub := range cmd.Commands() {
		each(sub, do)
	}
}

// Every command says what it does, with every flag.
func TestHelp(t *testing.T) {
	alone(t)
	var all strings.Builder
	each(command(), func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		out, _, err := say(t, append(path, "--help")...)
		if err != nil {
			t.Errorf("%v: %v", path, err)
		}
		fmt.Fprintf(&all, "$ %s --help\n%s\n", cmd.CommandPath(), out)
	})
	golden(t, "help.txt", all.String())
}

// common are the flags that docs/cli.md tells of once.
var common = []string{"server", "context", "json", "output", "wide", "utc", "color", "help", "as-of", "profile", "token-file", "ca-file"}

// docs/cli.md lists every command and every exit status.
func TestCommandsAreDocumented(t *testing.T) {
	alone(t)
	const document = "../../docs/cli.md"
	var commands, statuses strings.Builder
	commands.WriteString("\n| command | what it does | flags of its own |\n|---|---|---|\n")
	each(command(), func(cmd *cobra.Command) {
		if !cmd.Runnable() || cmd.Name() == "help" || cmd.HasParent() && cmd.Parent().Name() == "completion" {
			return
		}
		var flags []string
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !slices.Contains(common, f.Name) {
				flags = append(flags, "`--"+f.Name+"`")
			}
		})
		fmt.Fprintf(&commands, "| `%s` | %s | %s |\n", strings.ReplaceAll(strings.TrimSuffix(cmd.UseLine(), " [flags]"), "|", `\|`), strings.ReplaceAll(cmd.Short, "|", `\|`), strings.Join(flags, " "))
	})
	commands.WriteString("\n")
	statuses.WriteString("\n| status | when |\n|---|---|\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&statuses, "| %d | %s |\n", e.code, e.when)
	}
	statuses.WriteString("\n")
	const begin, end = "<!-- %s: go test ./cmd/faultline -run TestCommandsAreDocumented -update -->\n", "<!-- end of %s -->\n"
	doctest.Section(t, document, fmt.Sprintf(begin, "commands"), fmt.Sprintf(end, "commands"), commands.String(), *update)
	doctest.Section(t, document, fmt.Sprintf(begin, "exit statuses"), fmt.Sprintf(end, "exit statuses"), statuses.String(), *update)
}
