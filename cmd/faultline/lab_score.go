package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/lab"
	"github.com/faultline-io/faultline/internal/lab/score"
	"github.com/faultline-io/faultline/internal/profile"
)

// errMissed is the end of a score in which a fault was not judged as it must be.
var errMissed = errors.New("not every fault was judged as it must be")

// scoring is one run of `faultline lab score`.
type scoring struct {
	faults   []string
	keep     string
	at       int // faults at one time
	scale    float64
	json     bool
	progress io.Writer
}

func scoreCommand() *cobra.Command {
	s := scoring{}
	cmd := &cobra.Command{
		Use:   "score",
		Short: "Make each fault in turn, beside healthy load, and compare the verdicts with the truth",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.progress = cmd.ErrOrStderr()
			results, err := s.run(cmd.Context())
			if err != nil {
				return err
			}
			return s.print(cmd.OutOrStdout(), results)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&s.faults, "faults", nil, "faults to make, comma-separated (default: all)")
	f.StringVar(&s.keep, "data", "", "folder to keep the telemetry in (default: none is kept)")
	f.IntVar(&s.at, "parallel", 4, "faults at one time, each in a platform of its own")
	f.Float64Var(&s.scale, "scale", 0.5, "of every duration in the simulation")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	return cmd
}

// chosen are the faults to make.
func (s *scoring) chosen() (all []lab.Fault, err error) {
	known := lab.Faults()
	for _, name := range s.faults {
		if !slices.ContainsFunc(known, func(f lab.Fault) bool { return f.Name == name }) {
			return nil, fmt.Errorf("--faults: there is none called %q; faultline lab list shows them", name)
		}
	}
	for _, f := range known {
		if len(s.faults) == 0 || slices.Contains(s.faults, f.Name) {
			all = append(all, f)
		}
	}
	return all, nil
}

func (s *scoring) run(ctx context.Context) ([]score.Result, error) {
	faults, err := s.chosen()
	if err != nil {
		return nil, err
	}
	dir, done, err := workFolder(s.keep)
	if err != nil {
		return nil, err
	}
	defer done()
	p, err := profile.Parse("lab", []byte(score.Profile))
	if err != nil {
		return nil, err
	}
	results := make([]score.Result, len(faults))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(s.at)
	var saying sync.Mutex
	for n, f := range faults {
		work.Go(func() (err error) {
			results[n], err = s.one(ctx, f, filepath.Join(dir, f.Name), n, p)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			saying.Lock()
			defer saying.Unlock()
			_, err = fmt.Fprintf(s.progress, "%-28s %s\n", f.Name, summary(results[n]))
			return err
		})
	}
	return results, work.Wait()
}

// one makes one fault in a platform of its own.
func (s *scoring) one(ctx context.Context, f lab.Fault, dir string, n int, p *profile.Profile) (r score.Result, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return r, err
	}
	defer logFile.Close()
	cell, err := score.Start(ctx, score.CellConfig{
		Name: fmt.Sprintf("c%d-", n), Dir: dir, Scale: s.scale, Stories: storiesFor(f), Providers: f.NeedsProviders(),
		Log: slog.New(slog.NewTextHandler(logFile, nil)),
	})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, cell.Close()) }()
	stage := score.Stage{Remote: cell.Remote, Judge: newFileJudge(p, cell.Files), Look: 1500 * time.Millisecond, Hold: 75 * time.Second}
	return stage.Run(ctx, f)
}

// storiesFor is the load of a fault's platform: whoever meets it, and others beside.
func storiesFor(f lab.Fault) []string {
	if f.NeedsProviders() {
		return []string{"healthy", "aap_healthy", "aap_cancel", "eda_healthy"}
	}
	return []string{"healthy", "slow", "cancel"}
}

func summary(r score.Result) string {
	if !r.OK() {
		return "MISS " + strings.Join(r.Misses, "; ")
	}
	return fmt.Sprintf("ok   %d of %d right within %s", r.Right, r.Affected, r.Slowest.Round(100*time.Millisecond))
}

func (s *scoring) print(out io.Writer, results []score.Result) error {
	missed := 0
	for _, r := range results {
		if !r.OK() {
			missed++
		}
	}
	if s.json {
		if err := printJSON(out, map[string]any{"faults": results, "missed": missed}); err != nil {
			return err
		}
	} else {
		w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "\nFAULT\tEXPECTED\tAFFECTED\tRIGHT\tSLOWEST\tHEALTHY\tALARMS\tNAMED BEFORE")
		healthy, alarms := 0, 0
		for _, r := range results {
			mark := ""
			if !r.OK() {
				mark = "  MISS"
			}
			healthy, alarms = healthy+r.Healthy, alarms+r.Alarms
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%d\t%d\t%s%s\n", r.Fault, r.Expected, r.Affected, r.Right, r.Slowest.Round(100*time.Millisecond), r.Healthy, r.Alarms,
				dashed(strings.Join(r.Detours, " ")), mark)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "%d of %d faults judged as they must be; %d false alarms among %d healthy allocations\n", len(results)-missed, len(results), alarms, healthy)
		for _, r := range results {
			for _, m := range r.Misses {
				fmt.Fprintf(out, "  %s: %s\n", r.Fault, m)
			}
			if len(r.Examples) > 0 {
				fmt.Fprintf(out, "  %s: see %s\n", r.Fault, strings.Join(r.Examples, ", "))
			}
		}
	}
	if missed > 0 {
		return errMissed
	}
	return nil
}

func dashed(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
