package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/addon"
)

// labProgram is the simulated platform. It lies beside this program, or the run goes on without it.
const labProgram = "faultline-lab"

// askLab asks the lab which processes it needs. None are needed where it is not wanted or not there.
func (c upConfig) askLab(ctx context.Context, file string, out io.Writer) (addon.Plan, error) {
	if !c.RunLab {
		return addon.Plan{}, nil
	}
	program, ok, err := addon.Beside(labProgram)
	if err != nil {
		return addon.Plan{}, err
	}
	if !ok {
		_, err := fmt.Fprintf(out, "faultline: %s does not lie in %s, so neither provisioner nor simulated platform will run: "+
			"make build builds it, --no-lab leaves it out\n", labProgram, filepath.Dir(program))
		return addon.Plan{}, err
	}
	return addon.Product{
		Config: file, Data: c.DataDir, OTLP: "http://" + c.OTLP.HTTP, Correlator: c.server(), Token: c.tokenFile(), Provisioner: addon.Provisioner(c.Provisioner),
	}.Ask(ctx, program, "plan")
}

// movedCommand answers for a command that the lab's program has now; it was called name here, and is called now there.
func movedCommand(name, now string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			there := append([]string{now}, args...)
			if name == "lab" && (len(args) == 0 || strings.HasPrefix(args[0], "-")) {
				there = append([]string{now, "run"}, args...)
			}
			return fmt.Errorf("the lab is a program of its own: %s", strings.Join(there, " "))
		},
	}
}
