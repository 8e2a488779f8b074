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
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// errRejected says that something was rejected; it has been reported already.
var errRejected = errors.New("some input was rejected")

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
	f.StringVar(&a.profile, "profile", "", "built-in profile or profile file (default \"default\")")
	f.StringVar(&a.asOf, "as-of", "", "judge by what had been observed until this time (RFC 3339)")
	cmd.MarkFlagsMutuallyExclusive("json", "attribution")
	return cmd
}

// analysis is one run of `faultline analyze`.
type analysis struct {
	json, attribution bool
	profile, asOf     string
}

func (a *analysis) run(files []string, stdin io.Reader, stdout, stderr io.Writer) error {
	p, err := profile.Load(a.profile)
	if err != nil {
		return err
	}
	asOf := int64(0)
	if a.asOf != "" {
		t, err := time.Parse(time.RFC3339Nano, a.asOf)
		if err != nil {
			return fmt.Errorf("--as-of: %q is no RFC 3339 time, such as 2026-03-02T10:04:11Z", a.asOf)
		}
		asOf = t.UnixNano()
	}
	var records []*record.Record
	rejected := 0
	reader := otlpfile.Reader{
		Stdin:  stdin,
		Record: func(r *record.Record) { records = append(records, r) },
		Reject: func(r otlpfile.Rejection) {
			rejected++
			_, _ = fmt.Fprintln(stderr, "faultline: rejected "+r.String())
		},
	}
	for _, file := range files {
		if err := reader.ReadFile(file); err != nil {
			return err
		}
	}
	g := correlator.Gather(records, nil, p, correlator.Moment{AsOf: asOf})
	g.Stats.Rejected = rejected
	for reason, n := range g.Refused {
		_, _ = fmt.Fprintf(stderr, "faultline: %d statements about identity refused: %s\n", n, reason)
	}
	out := bufio.NewWriterSize(stdout, 1<<16)
	if err := a.print(out, g); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if rejected > 0 {
		return errRejected
	}
	return nil
}

func (a *analysis) print(out io.Writer, g *correlator.Gathering) error {
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
		return lines.Encode(g.Analyze(rules.All()))
	}
	return showAnswer(out, g.Analyze(rules.All()))
}
