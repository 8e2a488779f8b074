package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/terminal"
)

func analyzeCommand() *cobra.Command {
	a := analysis{}
	cmd := &cobra.Command{
		Use:   "analyze FILE...",
		Short: "Judge the allocations in OTLP/JSON files, without a server",
		Long: `Reads OTLP/JSON, one request object a line as the Collector's file exporter writes it, plain or gzip,
"-" for standard input, and prints a timeline and a verdict for every allocation.

Exit status: 0 all read; 3 something was rejected (the answer is still whole); 1 usage or I/O error.`,
		Example: "  faultline analyze examples/cert-expired.jsonl\n  zcat export.jsonl.gz | faultline analyze --json -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("analyze needs at least one FILE, or - for standard input; see faultline analyze --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			return a.run(files, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&a.json, "json", false, "print one JSON object")
	f.BoolVar(&a.attribution, "attribution", false, "print instead whose every record was, one JSON line a record")
	a.input.flags(cmd)
	a.peopleFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "attribution")
	return cmd
}

// analysis is one run of `faultline analyze`.
type analysis struct {
	input
	look
	attribution bool
}

func (a *analysis) run(files []string, stdin io.Reader, stdout, stderr io.Writer) error {
	g, err := a.gather(files, stdin, stderr)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(stdout, 1<<16)
	if err := a.print(out, terminal.Of(stdout), g); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if g.Stats.Rejected > 0 {
		return errRejected
	}
	return nil
}

func (a *analysis) print(out io.Writer, s terminal.Screen, g *correlator.Dataset) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	switch {
	case a.attribution:
		for _, line := range g.Attributions() {
			if err := lines.Encode(line); err != nil {
				return err
			}
		}
		return nil
	case a.json:
		return lines.Encode(query.Analyze(g, rules.All()))
	}
	return a.page(out, s, time.Time{}).answer(query.Analyze(g, rules.All()))
}
