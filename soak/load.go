package soak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/journal"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Load is how many allocations go through their lives at once.
type Load struct {
	Target      string // database
	Allocations int    // and as many nodes
	Replicas    int    // provisioners on the one database
	Patience    time.Duration
	Log         *slog.Logger
}

// LoadResult is what came of it.
type LoadResult struct {
	Create, Active, Released time.Duration // until all were accepted, all were active at once, all were over
	Moves                    int           // of allocations
	Events, Duplicates       int
	Work                     *Work
	Findings                 Findings
}

// replica is a provisioner without its network.
type replica struct {
	store   *store.Store
	emitter *telemetry.Emitter
	control *control.Control
	fleet   *fleet.Fleet
	run     func(context.Context) error
	close   func(context.Context) error
}

// openReplica makes one that tells an OTLP receiver at endpoint what it does; "" makes a silent one.
func openReplica(ctx context.Context, target, endpoint string, log *slog.Logger) (r *replica, err error) {
	t := telemetry.DefaultConfig()
	t.Endpoint, t.Queue = endpoint, 1<<18
	e, err := telemetry.Open(t, log)
	if err != nil {
		return nil, err
	}
	var emitter, relay *telemetry.Emitter
	var o store.Options
	if endpoint != "" {
		emitter, relay = e.Emitter("provisioner"), e.Emitter("outbox-relay")
		o = store.Options{DB: e.Emitter("db"), Emitter: emitter, Relay: relay, Journal: true}
	}
	s, err := store.Open(ctx, target, o)
	if err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	w := workflow.DefaultConfig()
	w.Placement, w.CapacityRetry, w.ClaimTimeout = time.Hour, 100*time.Millisecond, time.Hour
	f := fleet.DefaultConfig()
	f.Lease = time.Hour
	engine := workflow.New(s, w, emitter, log)
	sends, ships := outbox.New(s, engine, outbox.DefaultConfig(), relay, log), journal.New(s, e, t, log)
	r = &replica{store: s, emitter: emitter, control: control.New(s, time.Hour), fleet: fleet.New(s, f, emitter)}
	r.run = func(ctx context.Context) error {
		work, ctx := errgroup.WithContext(ctx)
		work.Go(func() error { return engine.Run(ctx) })
		work.Go(func() error { return sends.Run(ctx) })
		work.Go(func() error { return ships.Run(ctx) })
		return work.Wait()
	}
	r.close = func(ctx context.Context) error { return errors.Join(ships.Drain(ctx), s.Close(), e.Close(ctx)) }
	return r, nil
}

// Run has all allocations created at once, active at once, and released at once.
func (l Load) Run(ctx context.Context) (out LoadResult, err error) {
	out.Work = &Work{}
	receiver := NewReceiver()
	server := httptest.NewServer(receiver)
	defer server.Close()
	replicas := make([]*replica, l.Replicas)
	for i := range replicas {
		if replicas[i], err = openReplica(ctx, l.Target, server.URL, l.Log); err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, replicas[i].close(ctx)) }()
	}
	working, stop := context.WithCancel(ctx)
	work, working := errgroup.WithContext(working)
	for _, r := range replicas {
		work.Go(func() error { return r.run(working) })
	}
	err = l.live(working, replicas, work, &out)
	if err == nil {
		err = until(ctx, l.Patience, "the journal to be empty", func() (n int, err error) {
			err = replicas[0].store.View(ctx, "journal backlog", func(t *store.Tx) (err error) { n, _, err = t.JournalBacklog(); return err })
			return n, err
		})
	}
	stop()
	if err = errors.Join(err, work.Wait()); err != nil {
		return out, err
	}
	events, again := receiver.Events()
	out.Events, out.Duplicates = len(events), again
	for _, e := range events {
		if e.Name == semconv.EventAllocationState {
			out.Moves++
		}
	}
	out.Findings, err = Check(ctx, replicas[0].store, receiver)
	return out, err
}

// live is the allocations' lives; nodes go on until ctx ends.
func (l Load) live(ctx context.Context, replicas []*replica, work *errgroup.Group, out *LoadResult) error {
	at := func(i int) *replica { return replicas[i%len(replicas)] }
	each := func(f func(i int) error) error {
		all, _ := errgroup.WithContext(ctx)
		all.SetLimit(32)
		for i := range l.Allocations {
			all.Go(func() error { return f(i) })
		}
		return all.Wait()
	}
	agents := make([]fleet.Agent, l.Allocations)
	if err := each(func(i int) error {
		node := fmt.Sprintf("n-%05d", i)
		token, _, err := at(i).control.RegisterNode(ctx, node, "p")
		if err != nil {
			return err
		}
		agents[i], err = at(i).fleet.Enrol(ctx, token, "boot", node)
		return err
	}); err != nil {
		return fmt.Errorf("enrol: %w", err)
	}
	for i, a := range agents {
		work.Go(func() error { runNode(ctx, within{at(i).fleet, a}, out.Work); return nil })
	}
	states := func(state string) func() (int, error) {
		return func() (left int, err error) {
			err = replicas[0].store.View(ctx, "count", func(t *store.Tx) error {
				n, err := t.CountAllocations(state)
				left = l.Allocations - n
				return err
			})
			return left, err
		}
	}
	began := time.Now()
	if err := each(func(i int) error {
		_, _, err := at(i).control.Create(ctx, control.Request{ID: fmt.Sprintf("a-%05d", i), Pool: "p", Image: "i", RequestedBy: "alice"})
		return err
	}); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	out.Create = time.Since(began)
	if err := until(ctx, l.Patience, "all to be active", states(semconv.Active)); err != nil {
		return err
	}
	out.Active, began = time.Since(began), time.Now()
	if err := each(func(i int) error {
		_, err := at(i+1).control.Release(ctx, fmt.Sprintf("a-%05d", i), control.Asker{Actor: "alice", ActorType: "user"})
		return err
	}); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	err := until(ctx, l.Patience, "all to be released", states(semconv.Released))
	out.Released = time.Since(began)
	if err != nil {
		return err
	}
	return until(ctx, l.Patience, "the outbox to be empty", func() (n int, err error) {
		err = replicas[0].store.View(ctx, "backlog", func(t *store.Tx) (err error) { n, _, err = t.OutboxBacklog(); return err })
		return n, err
	})
}

// until waits for nothing to be left.
func until(ctx context.Context, patience time.Duration, what string, left func() (int, error)) error {
	n := 0
	for end := time.Now().Add(patience); time.Now().Before(end); pause(ctx, 100*time.Millisecond) {
		var err error
		if n, err = left(); err != nil || n == 0 {
			return err
		}
	}
	return fmt.Errorf("waited %s for %s: %d left", patience, what, n)
}

// within is a node that talks to a fleet without a network.
type within struct {
	fleet *fleet.Fleet
	agent fleet.Agent
}

func (w within) wait(ctx context.Context) (store.Task, bool, error) {
	return w.fleet.Wait(ctx, w.agent, time.Minute)
}

func (w within) done(ctx context.Context, k store.Task, observed string) (again bool, err error) {
	err = w.fleet.Report(ctx, w.agent, k.ID, k.Claim.ID, k.Claim.Fence, fleet.Result{OK: true, Observed: observed})
	var refused *lifecycle.Refusal
	return err != nil && !errors.As(err, &refused), err
}
