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
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Lives is what telemetry adds to the whole life of an allocation: request, placement, two tasks, active,
// release, two tasks, released; one life at a time, with and without telemetry by turns.
type Lives struct {
	Silent, Telling string // databases
	Lives           int    // of each kind
}

// Run lives.
func (l Lives) Run(ctx context.Context) (out CostResult, err error) {
	receiver := NewReceiver()
	server := httptest.NewServer(receiver)
	defer server.Close()
	working, stop := context.WithCancel(ctx)
	work, working := errgroup.WithContext(working)
	kinds := []struct {
		target, endpoint string
		times            []time.Duration
		replica          *replica
		agent            fleet.Agent
	}{{target: l.Silent}, {target: l.Telling, endpoint: server.URL}}
	for i := range kinds {
		k := &kinds[i]
		if k.replica, err = openReplica(ctx, k.target, k.endpoint, slog.New(slog.DiscardHandler)); err != nil {
			stop()
			return out, err
		}
		defer func() { err = errors.Join(err, k.replica.close(ctx)) }()
		token, _, err := k.replica.control.RegisterNode(ctx, "n-1", "p")
		if err == nil {
			k.agent, err = k.replica.fleet.Enrol(ctx, token, "boot", "n-1")
		}
		if err != nil {
			stop()
			return out, err
		}
		work.Go(func() error { return k.replica.run(working) })
	}
	for i := 0; i < l.Lives && err == nil; i++ {
		for j := range kinds {
			k := &kinds[j]
			began := time.Now()
			if err = k.replica.life(ctx, k.agent, fmt.Sprintf("a-%04d", i)); err != nil {
				break
			}
			k.times = append(k.times, time.Since(began))
		}
	}
	stop()
	if err = errors.Join(err, work.Wait()); err != nil {
		return out, err
	}
	events, _ := receiver.Events()
	return CostResult{timesOf(kinds[0].times), timesOf(kinds[1].times), float64(len(events)) / float64(l.Lives)}, nil
}

// life is one allocation from request to released.
func (r *replica) life(ctx context.Context, agent fleet.Agent, id string) error {
	ctx, span := r.emitter.Start(telemetry.With(ctx, semconv.CorrelationID, "c-"+id), "life", telemetry.Internal)
	defer span.End()
	if _, _, err := r.control.Create(ctx, control.Request{ID: id, Pool: "p", Image: "i", RequestedBy: "alice"}); err != nil {
		return err
	}
	if err := r.work(ctx, agent, "", workflow.ObservedRunning); err != nil {
		return err
	}
	if err := r.reach(ctx, id, semconv.Active); err != nil {
		return err
	}
	if _, err := r.control.Release(ctx, id, control.Asker{Actor: "alice", ActorType: "user"}); err != nil {
		return err
	}
	if err := r.work(ctx, agent, "", workflow.ObservedAbsent); err != nil {
		return err
	}
	return r.reach(ctx, id, semconv.Released)
}

// work does one task after another.
func (r *replica) work(ctx context.Context, agent fleet.Agent, observed ...string) error {
	for _, seen := range observed {
		k, ok, err := r.fleet.Wait(ctx, agent, time.Minute)
		if err != nil || !ok {
			return errors.Join(err, errors.New("no task within a minute"))
		}
		if err := r.fleet.Report(ctx, agent, k.ID, k.Claim.ID, k.Claim.Fence, fleet.Result{OK: true, Observed: seen}); err != nil {
			return err
		}
	}
	return nil
}

// reach waits for a state; every move wakes whoever waits for workflows.
func (r *replica) reach(ctx context.Context, id, state string) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		changed := r.store.Changed(store.Workflows)
		a, err := r.control.Get(telemetry.Untraced(ctx), id)
		if err != nil || a.State == state {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(time.Second):
		}
	}
	return fmt.Errorf("%s did not become %s within a minute", id, state)
}
