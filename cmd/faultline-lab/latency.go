package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/lab/latency"
	"github.com/faultline-io/faultline/lab/provided"
)

func latencyCommand() *cobra.Command {
	runs, scale, keep, asJSON := 0, 0.0, "", false
	cmd := &cobra.Command{
		Use:   "latency [FILE...]",
		Short: "Provision and deprovision through AAP and EDA at once, and compare them by phase, from the telemetry alone",
		Long: `Runs a provisioner with a simulated AAP and a simulated EDA in this process, and reports per phase the
means, their spread, the difference with its 95 % interval, and whether it means anything at that number of
runs. The report reads the stored telemetry and nothing else: with FILEs of OTLP/JSON lines from an earlier
run, or from a platform with both providers, nothing is run.

At --scale 0.2, one second of a provider's life takes 0.2 seconds: a run takes about a minute.`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if runs < 1 || runs > 50 || scale < 0.02 || scale > 1 {
				return errors.New("--runs must be 1 to 50, --scale 0.02 to 1")
			}
			if len(files) == 0 {
				dir, done, err := workFolder(keep)
				if err != nil {
					return err
				}
				defer done()
				file, err := provided.MeasureLatency(cmd.Context(), dir, runs, scale)
				if err != nil {
					return err
				}
				files = []string{file}
			}
			report, err := compareLatency(files)
			if err != nil {
				return err
			}
			return printLatency(cmd.OutOrStdout(), report, asJSON)
		},
	}
	cmd.Flags().IntVar(&runs, "runs", 3, "allocations with each provider")
	cmd.Flags().Float64Var(&scale, "scale", 0.2, "seconds of the clock for one second of life")
	cmd.Flags().StringVar(&keep, "data", "", "folder to keep the telemetry in (default: none is kept)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return cmd
}

// errNoRuns is the end of a comparison in which there is nothing to compare.
var errNoRuns = errors.New("no allocation served by aap or eda came to the end of a phase")

func compareLatency(files []string) ([]latency.Comparison, error) {
	samples := latency.NewSamples()
	var rejected []error
	r := otlpfile.Reader{Record: samples.Take, Reject: func(x otlpfile.Rejection) { rejected = append(rejected, errors.New(x.String())) }}
	for _, file := range files {
		if err := r.ReadFile(file); err != nil {
			return nil, err
		}
	}
	if len(rejected) > 0 {
		return nil, errors.Join(rejected...)
	}
	var out []latency.Comparison
	for _, phase := range latency.Phases() {
		out = append(out, latency.Compare(samples, phase, "aap", "eda"))
	}
	if !slices.ContainsFunc(out, func(c latency.Comparison) bool { return c.Base.Runs+c.Other.Runs > 0 }) {
		return nil, fmt.Errorf("%w in %s", errNoRuns, strings.Join(files, ", "))
	}
	return out, nil
}

func printLatency(w io.Writer, all []latency.Comparison, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(map[string]any{"phases": all, "confidence": latency.Confidence})
	}
	fmt.Fprintf(w, "%-12s %18s %18s %12s %22s\n", "phase", "aap (s)", "eda (s)", "eda − aap", "95 % interval")
	for _, c := range all {
		fmt.Fprintf(w, "%-12s %10.1f ± %5.1f %10.1f ± %5.1f %+10.1f %% %+9.1f … %+.1f %%\n             %d and %d runs: %s\n", c.Phase,
			c.Base.Mean, c.Base.Deviation, c.Other.Mean, c.Other.Deviation, c.Percent, c.Low, c.High, c.Base.Runs, c.Other.Runs, c.Meaning)
	}
	_, err := fmt.Fprintln(w, "Mean ± standard deviation, in seconds of life, from lifecycle events. Welch's t-test.")
	return err
}
