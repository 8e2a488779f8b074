package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/product"
	"github.com/faultline-io/faultline/lab/score"
)

// errMissed is the end of a score in which a fault was not judged as it must be.
var errMissed = errors.New("not every fault was judged as it must be")

// scoring is one run of `faultline-lab score`.
type scoring struct {
	faults   []string
	keep     string
	running  string // data folder of the faultline up to use
	server   string
	files    bool
	at       int // faults at one time
	scale    float64
	json     bool
	progress io.Writer
	starting sync.Mutex
}

func scoreCommand() *cobra.Command {
	s := &scoring{}
	cmd := &cobra.Command{
		Use:   "score",
		Short: "Make each fault in turn, beside healthy load, and compare the verdicts with the truth",
		Long: `Brings up, for each fault, a store, a Collector and a correlator, and a platform: a provisioner and a lab with healthy
load. Makes the fault, asks for the verdict on every allocation that the fault cost something, as the lab knows from its
clients, heals it, and looks at everybody else for false alarms. Exit status 1 on a miss.

A verdict is right where it names the fault's layer and no other, within 60 s of the first failure record or of the
lapse of the lab's budget for the step; or where it abstains, if that is what faultline-lab list expects.`,
		Args: cobra.NoArgs,
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
	f.BoolVar(&s.files, "files", false, "judge what is written to files, in this process: no store, no Collector")
	f.StringVar(&s.running, "running", "", "data folder of a faultline up that runs: make the faults there, one after the other")
	f.StringVar(&s.server, "server", string(product.DefaultServer), "with --running: the correlator's address")
	f.StringVar(&s.keep, "data", "", "folder to keep the telemetry in (default: none is kept)")
	f.IntVar(&s.at, "parallel", platforms(runtime.NumCPU()), "faults at one time, each in a platform of its own; by default as many as there are CPUs, at most 8; 1 with a ClickHouse server of yours")
	f.Float64Var(&s.scale, "scale", 0.5, "of every duration in the simulation")
	f.BoolVar(&s.json, "json", false, "print one JSON object")
	return cmd
}

// platforms is how many platforms this machine carries, each with a store, Collector and correlator of its own: they take about
// half a core each, most of it the store's; with more, leases of healthy tasks run out while their agents wait for a CPU.
func platforms(cpus int) int { return min(cpus, 8) }

// chosen are the faults to make.
func (s *scoring) chosen() (all []lab.Fault, err error) {
	known := lab.Faults()
	for _, name := range s.faults {
		if !slices.ContainsFunc(known, func(f lab.Fault) bool { return f.Name == name }) {
			return nil, fmt.Errorf("--faults: there is none called %q; faultline-lab list shows them", name)
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
	if s.running != "" {
		return s.inRunning(ctx, faults)
	}
	dir, done, err := workFolder(s.keep)
	if err != nil {
		return nil, err
	}
	defer done()
	if os.Getenv(schema.Variable) != "" {
		s.at = 1 // they would share its server, and what one says would be held against another
	}
	results := make([]score.Result, len(faults))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(s.at)
	var saying sync.Mutex
	for n, f := range faults {
		work.Go(func() (err error) {
			results[n], err = s.one(ctx, f, score.CellConfig{
				Name: fmt.Sprintf("c%d-", n), Dir: filepath.Join(dir, f.Name), Scale: s.scale, Stories: storiesFor(f), Providers: f.NeedsProviders(),
			})
			if results[n], err = unscored(ctx, f, results[n], err); err != nil {
				return err
			}
			saying.Lock()
			defer saying.Unlock()
			return s.tell(results[n])
		})
	}
	return results, work.Wait()
}

// unscored makes an experiment that failed a miss of its fault: the others go on.
func unscored(ctx context.Context, f lab.Fault, r score.Result, err error) (score.Result, error) {
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return r, fmt.Errorf("%s: %w", f.Name, err)
	}
	return score.Result{
		Fault: f.Name, Expected: f.Expected, Detours: []string{}, Examples: []string{}, Misses: []string{"the experiment failed: " + err.Error()},
	}, nil
}

func (s *scoring) tell(r score.Result) error {
	_, err := fmt.Fprintf(s.progress, "%-28s %s\n", r.Fault, summary(r))
	return err
}

// inRunning makes one fault after the other in a lab that runs already.
func (s *scoring) inRunning(ctx context.Context, faults []lab.Fault) (results []score.Result, err error) {
	remote, err := (&runningLab{s.running}).dial()
	if err != nil {
		return nil, err
	}
	defer remote.Close()
	stage := score.Stage{Remote: remote, Judge: &score.ServerJudge{Server: product.Server(s.server)}, Look: look, Hold: hold}
	for _, f := range faults {
		r, err := stage.Run(ctx, f)
		if r, err = unscored(ctx, f, r, err); err != nil {
			return results, err
		}
		results = append(results, r)
		if err := s.tell(r); err != nil {
			return results, err
		}
	}
	return results, nil
}

// Pace of a score.
const (
	look = 1500 * time.Millisecond
	hold = 75 * time.Second
)

// one makes one fault in a platform of its own, before a product of its own: a relay that is alive in one platform says
// nothing of the one that is stopped in the next.
func (s *scoring) one(ctx context.Context, f lab.Fault, c score.CellConfig) (r score.Result, err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return r, err
	}
	logFile, err := os.Create(filepath.Join(c.Dir, "log"))
	if err != nil {
		return r, err
	}
	defer logFile.Close()
	c.Log = slog.New(slog.NewTextHandler(logFile, nil))
	by := func(c *score.Cell) (score.Judge, error) {
		p, err := profile.Parse("lab", []byte(score.Profile))
		return score.NewFileJudge(p, c.Files), err
	}
	if !s.files {
		p, err := s.bringUp(ctx, c.Dir, logFile)
		if err != nil {
			return r, err
		}
		defer p.Stop()
		c.Endpoint = p.OTLP
		by = func(*score.Cell) (score.Judge, error) { return &score.ServerJudge{Server: p.Server}, nil }
	}
	cell, err := score.Start(ctx, c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, cell.Close()) }()
	judge, err := by(cell)
	if err != nil {
		return r, err
	}
	stage := score.Stage{Remote: cell.Remote, Judge: judge, Look: look, Hold: hold}
	return stage.Run(ctx, f)
}

// bringUp starts a product of its own, with budgets at the lab's pace.
func (s *scoring) bringUp(ctx context.Context, dir string, notes io.Writer) (*product.Product, error) {
	s.starting.Lock() // no two look for free ports at one time
	defer s.starting.Unlock()
	paced, err := filepath.Abs(filepath.Join(dir, "profile.yaml"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(paced, []byte(score.Profile), 0o600); err != nil {
		return nil, err
	}
	return product.Start(ctx, product.Config{Dir: filepath.Join(dir, "up"), Profile: paced, Notes: notes})
}

// storiesFor is the load of a fault's platform: whoever meets it, and others beside.
func storiesFor(f lab.Fault) []string {
	if f.NeedsProviders() {
		return []string{"healthy", "aap_healthy", "aap_cancel", "eda_healthy"}
	}
	return []string{"healthy", "slow", "cancel"}
}
