package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/addon"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/supervise"
	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/matrix"
	"github.com/faultline-io/faultline/lab/product"
	"github.com/faultline-io/faultline/lab/score"
)

// interrupting is one run of `faultline-lab matrix`.
type interrupting struct {
	cases      []string
	data       string
	last, calm time.Duration
	out, notes io.Writer
}

func matrixCommand() *cobra.Command {
	m := &interrupting{}
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Freeze and kill every process, and silence every layer, in turn: nobody else may be blamed",
		Long: `Brings up a store, a Collector, a correlator, a provisioner and a lab, and interrupts one after the other for a while. Counts, of the
allocations that lived meanwhile, of how many the owner of what stood still was named, of how many nobody, and of how many anybody else:
exit status 1 where that is one. Needs Linux.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m.out, m.notes = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return m.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&m.cases, "cases", nil, `cases to make, comma-separated, such as "api freeze" (default: all)`)
	f.StringVar(&m.data, "data", "", "folder to keep everything in (default: none is kept)")
	f.DurationVar(&m.last, "for", 45*time.Second, "how long each lasts")
	f.DurationVar(&m.calm, "calm", time.Minute, "until what it did is over, and said")
	return cmd
}

func (m *interrupting) chosen() (out []matrix.Case, err error) {
	all := matrix.Cases()
	for _, name := range m.cases {
		i := slices.IndexFunc(all, func(c matrix.Case) bool { return c.Name == name })
		if i < 0 {
			names := make([]string, len(all))
			for i, c := range all {
				names[i] = c.Name
			}
			return nil, fmt.Errorf("--cases: there is none called %q; they are %s", name, strings.Join(names, ", "))
		}
		out = append(out, all[i])
	}
	if len(m.cases) == 0 {
		out = all
	}
	return out, nil
}

func (m *interrupting) run(ctx context.Context) error {
	cases, err := m.chosen()
	if err != nil {
		return err
	}
	dir, done, err := workFolder(m.data)
	if err != nil {
		return err
	}
	defer done()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	run, stop, err := m.bringUp(ctx, dir)
	if err != nil {
		return err
	}
	defer stop()
	table := tabwriter.NewWriter(m.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "CASE\tOWNER\tLIVED\tNAMED\tUNDETERMINED\tQUIET\tWRONG")
	var failed error
	for _, c := range cases {
		r, err := run.Do(ctx, c)
		if err != nil {
			return errors.Join(err, table.Flush())
		}
		owner := strings.Join(r.Owners, ", ")
		if owner == "" {
			owner = "nobody"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%d\n", r.Case, owner, r.Lived, r.Named, r.Open, r.Quiet, len(r.Wrong))
		_, _ = fmt.Fprintf(m.notes, "%s: %d lived, %d named, %d undetermined, %d quiet, %d wrong %s\n", r.Case, r.Lived, r.Named, r.Open, r.Quiet, len(r.Wrong), strings.Join(r.Wrong, "; "))
		if !r.OK() {
			failed = errMissed
		}
	}
	return errors.Join(failed, table.Flush())
}

// bringUp starts the product, and the platform beside it, whose telemetry goes through a gate.
func (m *interrupting) bringUp(ctx context.Context, dir string) (run *matrix.Run, stop func(), err error) {
	paced := filepath.Join(dir, "profile.yaml")
	if err := os.WriteFile(paced, []byte(score.Profile), 0o600); err != nil {
		return nil, nil, err
	}
	p, err := profile.Parse("lab", []byte(score.Profile))
	if err != nil {
		return nil, nil, err
	}
	up, err := product.Start(ctx, product.Config{Dir: filepath.Join(dir, "up"), Profile: paced, Notes: m.notes})
	if err != nil {
		return nil, nil, err
	}
	ends := []func(){up.Stop}
	stop = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	gate, err := matrix.NewGate(up.OTLP, p)
	if err != nil {
		return nil, nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	server := &http.Server{Handler: gate, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	ends = append(ends, func() { _ = server.Close() })
	folder := filepath.Join(dir, "platform")
	end, err := m.platform(ctx, folder, "http://"+listener.Addr().String(), up)
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, end)
	remote, err := (&runningLab{folder}).wait(ctx)
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, remote.Close)
	return &matrix.Run{
		Rig:   &matrix.Rig{Folder: dir, Remote: remote, Gate: gate},
		Judge: &score.ServerJudge{Server: up.Server}, Last: m.last, Calm: m.calm,
	}, stop, nil
}

// platform runs a provisioner and a lab as processes.
func (m *interrupting) platform(ctx context.Context, folder, otlp string, judges *product.Product) (end func(), err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	free, err := product.FreeAddresses(ctx, 8)
	if err != nil {
		return nil, err
	}
	load := lab.DefaultConfig()
	load.Nodes, load.Open, load.Every, load.Stories = 8, 8, 4*time.Second, []string{"healthy", "slow", "cancel"}
	load.LogFiles, load.Export = false, filepath.Join(folder, "said.jsonl")
	load.Ingress, load.API, load.Auth, load.DeadAPI, load.ProvisionerFaults = free[3], free[4], free[5], free[6], free[7]
	file := filepath.Join(folder, "load.yaml")
	if err := write(file, map[string]any{"lab": load}); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	plan, err := plan(addon.Product{
		Config: file, Data: folder, OTLP: otlp, Correlator: string(judges.Server), Token: judges.TokenFile, Provisioner: addon.Provisioner{Control: free[0], Node: free[1], Ops: free[2]},
	}, filepath.Dir(self))
	if err != nil {
		return nil, err
	}
	var parts []supervise.Part
	for _, p := range plan.Processes {
		parts = append(parts, supervise.Part{
			Name: p.Name, Command: p.Command, Env: p.Env, Log: filepath.Join(folder, p.Name+".log"), Ready: p.Ready, Finite: p.Finite,
			Patience: time.Minute, Grace: 20 * time.Second,
		})
	}
	running, stop := context.WithCancel(ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- supervise.Run(running, parts, m.notes, func() { close(ready) }) }()
	end = func() {
		stop()
		if err := <-ended; err != nil && running.Err() == nil {
			_, _ = fmt.Fprintln(m.notes, "platform:", err)
		}
	}
	select {
	case <-ready:
		return end, nil
	case err := <-ended:
		stop()
		return nil, errors.Join(err, ctx.Err())
	}
}
