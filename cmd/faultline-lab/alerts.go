package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/alerting"
	"github.com/faultline-io/faultline/lab/product"
	"github.com/faultline-io/faultline/lab/score"
)

// paging is one run of `faultline-lab alerts`.
type paging struct {
	faults     []string
	data       string
	rounds     int
	quiet      time.Duration
	out, notes io.Writer
}

// errNotCalled is the end of a run in which an owner was not called, or somebody else was.
var errNotCalled = errors.New("not every fault called its owner, and nobody else")

func alertsCommand() *cobra.Command {
	p := &paging{}
	cmd := &cobra.Command{
		Use:   "alerts",
		Short: "Make faults in turn, and measure how long until Alertmanager calls their owners",
		Long: `Brings up the product with Prometheus and Alertmanager (which must be installed), and a platform with healthy load. Looks on for a
while: nothing may fire. Then makes each fault, waits for an alert that names its layer and owner, heals it, and waits until the alert is
resolved. Exit status 1 where an owner was not called, somebody else was, or an alert stays.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.out, p.notes = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return p.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&p.faults, "faults", []string{"cert_expired", "node_disk_full", "api_crash"}, "faults to make, comma-separated")
	f.StringVar(&p.data, "data", "", "folder to keep everything in (default: none is kept)")
	f.IntVar(&p.rounds, "rounds", 1, "how often each is made")
	f.DurationVar(&p.quiet, "quiet", time.Minute, "how long healthy load is looked at before")
	return cmd
}

func (p *paging) run(ctx context.Context) error {
	faults, err := (&scoring{faults: p.faults}).chosen()
	if err != nil {
		return err
	}
	for _, names := range [][]string{{"prometheus"}, {"prometheus-alertmanager", "alertmanager"}} {
		if !slices.ContainsFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil }) {
			return fmt.Errorf("%s is not installed", names[len(names)-1])
		}
	}
	dir, done, err := workFolder(p.data)
	if err != nil {
		return err
	}
	defer done()
	stage, stop, err := p.bringUp(ctx, dir, slices.ContainsFunc(faults, lab.Fault.NeedsProviders))
	if err != nil {
		return err
	}
	defer stop()
	if err := stage.Calm(ctx, 2); err != nil {
		return err
	}
	fired, err := stage.Quiet(ctx, p.quiet)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(p.out, "%s of healthy load: %d alerts %s\n", p.quiet, len(fired), strings.Join(fired, ", "))
	var results []alerting.Result
	for range p.rounds {
		for _, f := range faults {
			r, err := stage.Run(ctx, f)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			_, _ = fmt.Fprintf(p.notes, "%s: after %s, resolved after %s %s\n", r.Fault, seconds(r.Fired), seconds(r.Resolved), strings.Join(r.Others, ", "))
			results = append(results, r)
			if err := stage.Calm(ctx, 2); err != nil {
				return err
			}
		}
	}
	err = p.print(results)
	if len(fired) > 0 || slices.ContainsFunc(results, func(r alerting.Result) bool { return !r.OK() }) {
		err = errors.Join(err, errNotCalled)
	}
	return err
}

func (p *paging) print(results []alerting.Result) error {
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "FAULT\tLAYER\tOWNER\tCOST AFTER\tALERT AFTER\tRESOLVED AFTER\tOTHERS CALLED")
	var fired, since []time.Duration // since the fault, and since it cost something
	for _, r := range results {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Fault, r.Layer, r.Owner, seconds(r.Cost), seconds(r.Fired), seconds(r.Resolved), strings.Join(r.Others, ", "))
		if r.Fired > 0 {
			fired, since = append(fired, r.Fired), append(since, max(0, r.Fired-r.Cost))
		}
	}
	if err := table.Flush(); err != nil || len(fired) == 0 {
		return err
	}
	slices.Sort(fired)
	slices.Sort(since)
	_, err := fmt.Fprintf(p.out, "%d of %d called their owner: p50 %s, slowest %s; from when it cost something p50 %s, slowest %s\n", len(fired), len(results),
		seconds(fired[len(fired)/2]), seconds(fired[len(fired)-1]), seconds(since[len(since)/2]), seconds(since[len(since)-1]))
	return err
}

func seconds(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// bringUp starts the product with whoever alerts, and a platform beside it, both at the lab's pace.
func (p *paging) bringUp(ctx context.Context, dir string, providers bool) (_ *alerting.Stage, stop func(), err error) {
	paced, err := filepath.Abs(filepath.Join(dir, "profile.yaml"))
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(paced, []byte(score.Profile), 0o600); err != nil {
		return nil, nil, err
	}
	owners, err := profile.Parse("lab", []byte(score.Profile))
	if err != nil {
		return nil, nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, nil, err
	}
	up, err := product.Start(ctx, product.Config{Dir: filepath.Join(dir, "up"), Profile: paced, Alerts: true, Notes: p.notes})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	stories := []string{"healthy", "slow", "cancel"}
	if providers {
		stories = []string{"healthy", "aap_healthy", "aap_cancel", "eda_healthy"}
	}
	platform := filepath.Join(dir, "platform")
	if err := os.MkdirAll(platform, 0o700); err != nil {
		return nil, nil, err
	}
	cell, err := score.Start(ctx, score.CellConfig{
		Name: "a-", Dir: platform, Endpoint: up.OTLP, Scale: 0.5, Stories: stories, Providers: providers, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		up.Stop()
		return nil, nil, errors.Join(err, log.Close())
	}
	stop = func() {
		if err := errors.Join(cell.Close(), log.Close()); err != nil && ctx.Err() == nil {
			_, _ = fmt.Fprintln(p.notes, "platform:", err)
		}
		up.Stop()
	}
	return &alerting.Stage{
		Lab: cell.Remote, Pager: alerting.Alertmanager(up.Alertmanager), Owners: owners.Owners, Look: time.Second, Hold: 90 * time.Second, Drain: 3 * time.Minute,
	}, stop, nil
}
