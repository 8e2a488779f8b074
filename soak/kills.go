package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
	"github.com/faultline-io/faultline/provisioner/store"
)

// Kills is how often provisioners are killed while tenants, nodes and a provider go on.
type Kills struct {
	Target   string // database
	Times    int
	Replicas int
	Nodes    int
	Tenants  int           // each has one allocation after another; every fourth is AAP's, every fourth EDA's
	Longest  time.Duration // of the life of a process after it serves
	Patience time.Duration // after the last kill
	Dir      string        // for configurations and logs
}

// KillsResult is what came of it.
type KillsResult struct {
	Kills              int
	Ended              map[string]int // allocations by their last state
	AAP, EDA           Provided
	Operator           map[string]int // what the operator did, by action
	Fenced             int            // nodes, as events tell
	Work               *Work
	Events, Duplicates int
	Took               time.Duration
	Findings           Findings
}

// Provided counts the allocations of a provider, and the provisions that it was asked for.
type Provided struct{ Allocations, Launched int }

// world is what goes on whoever is killed.
type world struct {
	receiver   *Receiver
	controller *aapsim.Controller
	activation *edasim.Activation
	servers    []*httptest.Server
	processes  []*process
}

func (k Kills) build() (w *world, err error) {
	w = &world{receiver: NewReceiver()}
	hub := hubsim.New("hub-token")
	w.controller = aapsim.New(aapsim.Config{
		Instance: "soak", Token: "aap-token", PageSize: 200, Queue: 5 * time.Millisecond, Takes: func(string, bool) time.Duration { return rand.N(60 * time.Millisecond) },
		Launching: func(bool) time.Duration { return rand.N(20 * time.Millisecond) },
	}, hub, nil)
	w.activation = edasim.New(edasim.Config{
		Instance: "soak", Token: "eda-token", Queue: 5 * time.Millisecond, Takes: func(string, bool) time.Duration { return rand.N(60 * time.Millisecond) },
	}, hub, nil)
	serve := func(h http.Handler) string {
		s := httptest.NewUnstartedServer(h)
		s.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelDebug)
		s.Start()
		w.servers = append(w.servers, s)
		return s.URL
	}
	c := k.config(serve(w.receiver))
	hubAPI := provider.Endpoint{URL: serve(hub.Handler()), Token: "hub-token", Timeout: time.Second}
	c.Providers.AAP[0].Config.Hub, c.Providers.EDA[0].Config.Hub = hubAPI, hubAPI
	c.Providers.AAP[0].Config.API.URL, c.Providers.EDA[0].Config.Webhook.URL = serve(w.controller.Handler())+"/api/controller", serve(w.activation.Handler())
	for i := range k.Replicas {
		p, err := newProcess(k.Dir, fmt.Sprintf("provisioner-%d", i), c)
		if err != nil {
			return w, errors.Join(err, w.close())
		}
		w.processes = append(w.processes, p)
	}
	return w, nil
}

// jobTime ends what nobody can be asked about: an event for EDA that was written down, and not posted when its
// provisioner was killed, counts as posted for ever, since to post one twice is worse than to fail.
const jobTime = 15 * time.Second

// config has everything that waits wait shortly: a process lives for less than a second.
func (k Kills) config(endpoint string) provisioner.Config {
	c := provisioner.DefaultConfig()
	c.Database, c.Slow = k.Target, 0
	c.Telemetry.Endpoint, c.Telemetry.Flush = endpoint, 50*time.Millisecond
	w := &c.Workflow
	w.Tick, w.Lease, w.RetryWait, w.CapacityRetry = 50*time.Millisecond, 500*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	w.Placement, w.ClaimTimeout, w.JobTime, w.CancelTime, w.JobLease, w.Claims = time.Hour, time.Hour, jobTime, time.Hour, 3*time.Second, 1<<20
	c.Fleet.Lease = time.Second
	c.Outbox.Poll, c.Outbox.FirstWait, c.Outbox.LongestWait, c.Outbox.Lease = 50*time.Millisecond, 20*time.Millisecond, 200*time.Millisecond, 500*time.Millisecond
	c.Authority.Folder = filepath.Join(k.Dir, "authority")
	a, e := aap.DefaultConfig(), eda.DefaultConfig()
	a.Instance, a.Poll = "soak", 50*time.Millisecond
	a.API = provider.Endpoint{Token: "aap-token", Timeout: time.Second}
	e.Instance, e.Watch, e.Settle = "soak", 50*time.Millisecond, 3*time.Second
	e.Webhook = provider.Endpoint{Token: "eda-token", Timeout: time.Second}
	c.Providers.AAP = []provisioner.Served[aap.Config]{{Pools: []string{poolAAP}, Config: a}}
	c.Providers.EDA = []provisioner.Served[eda.Config]{{Pools: []string{poolEDA}, Config: e}}
	return c
}

func (w *world) close() (err error) {
	for _, p := range w.processes {
		if p.command != nil && p.command.ProcessState == nil {
			err = errors.Join(err, p.stop())
		}
	}
	for _, s := range w.servers {
		s.Close()
	}
	w.controller.Close()
	w.activation.Close()
	return err
}

// Run kills until it has killed often enough, lets everything come to its end, and looks.
func (k Kills) Run(ctx context.Context) (out KillsResult, err error) {
	out.Work, out.Ended = &Work{}, map[string]int{}
	began := time.Now()
	w, err := k.build()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	var control, node []string
	for _, p := range w.processes {
		if err := p.start(ctx); err != nil {
			return out, err
		}
		control, node = append(control, "http://"+p.config.Control), append(node, "https://"+p.config.Node)
	}
	tenants, nodes := newCaller(control), newCaller(node)
	over, err := ingressTLS(w.processes[0].config.Authority.Folder)
	if err != nil {
		return out, err
	}
	nodes.client.Transport.(*http.Transport).TLSClientConfig = over
	defer tenants.client.CloseIdleConnections()
	defer nodes.client.CloseIdleConnections()
	working, rest := context.WithCancel(ctx)
	defer rest()
	atWork, working := errgroup.WithContext(working)
	at := newCrew(atWork, out.Work)
	op := &operator{control: tenants, node: nodes, crew: at, remotes: map[string]remote{}}
	for i := range k.Nodes {
		cert, err := newCertified()
		if err != nil {
			return out, err
		}
		m, err := enrol(ctx, tenants, nodes, fmt.Sprintf("n-%03d", i), cert)
		if err != nil {
			return out, fmt.Errorf("enrol: %w", err)
		}
		op.remotes[m.node] = m
		at.employ(working, m)
	}
	wanting, enough := context.WithCancel(ctx)
	defer enough()
	patient, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	want, living := errgroup.WithContext(patient)
	all := make([]tenant, k.Tenants)
	for i := range all {
		all[i] = tenant{caller: tenants, name: fmt.Sprintf("%02d", i), first: i, ended: map[string]int{}, provided: map[string][]string{}}
		want.Go(func() error { return all[i].live(living, wanting) })
	}
	drill, settled := errgroup.Group{}, make(chan struct{})
	drill.Go(func() error { return op.live(working, patient, wanting, settled) })
	for out.Kills < k.Times && err == nil {
		p := w.processes[rand.N(len(w.processes))]
		pause(ctx, k.Longest)
		if err = p.kill(); err == nil {
			out.Kills++
			err = p.start(ctx)
		}
	}
	enough()
	late := time.AfterFunc(k.Patience, func() { giveUp(fmt.Errorf("not over %s after the last kill", k.Patience)) })
	defer late.Stop()
	err = errors.Join(err, want.Wait())
	close(settled)
	if err = errors.Join(err, drill.Wait()); err != nil {
		return out, err
	}
	out.Operator = op.done
	out.Took = time.Since(began)
	if err := k.look(ctx, w, all, &out); err != nil {
		return out, err
	}
	rest()
	return out, atWork.Wait()
}

// look waits until nothing is under way, then checks.
func (k Kills) look(ctx context.Context, w *world, all []tenant, out *KillsResult) (err error) {
	s, err := store.Open(ctx, k.Target, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := until(ctx, k.Patience, "outbox and journal to be empty", func() (n int, err error) {
		err = s.View(ctx, "backlogs", func(t *store.Tx) error {
			a, _, err := t.OutboxBacklog()
			if err != nil {
				return err
			}
			b, _, err := t.JournalBacklog()
			n = a + b
			return err
		})
		return n, err
	}); err != nil {
		return err
	}
	if out.Findings, err = Check(ctx, s, w.receiver); err != nil {
		return err
	}
	for _, t := range all {
		for state, n := range t.ended {
			out.Ended[state] += n
		}
		out.AAP.count(t.provided[poolAAP], "AAP", w.controller.Launches, &out.Findings)
		out.EDA.count(t.provided[poolEDA], "EDA", w.activation.Matched, &out.Findings)
	}
	if out.Work.Twice > 0 {
		out.Findings.add(DoubleLaunch, "%d claims were given out twice", out.Work.Twice)
	}
	events, again := w.receiver.Events()
	for _, e := range events {
		if e.Name == semconv.EventNodeOccupancy && e.To == lifecycle.Fenced {
			out.Fenced++
		}
	}
	out.Events, out.Duplicates = len(events), again
	return nil
}

// count adds a tenant's allocations, each of which is launched and removed at most once.
func (p *Provided) count(ids []string, at string, times func(id string, deletes bool) int, f *Findings) {
	for _, id := range ids {
		p.Allocations++
		n := times(id, false)
		if p.Launched += n; n > 1 || times(id, true) > 1 {
			f.add(DoubleLaunch, "%s was launched %d times at %s, and removed %d times", id, n, at, times(id, true))
		}
	}
}
