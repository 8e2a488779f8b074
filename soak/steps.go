package soak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Steps is what telemetry adds to the transitions that somebody waits for, from the call over HTTP to the
// answer behind the commit: one life after another, with and without telemetry by turns. Between two
// steps a provisioner does all that it has to do, so that none is timed together with another one.
type Steps struct {
	Silent, Telling string // databases
	Lives           int    // of each kind
}

// Step is one transition that is timed.
type Step struct {
	Name string
	CostResult
}

// stepNames are in the order of a life.
var stepNames = []string{"request → accepted", "claim", "result", "release → accepted"}

// timed is one provisioner of which steps are timed.
type timed struct {
	label   string // of its profile
	replica *replica
	control caller
	remote  remote
	servers []*httptest.Server
	times   map[string][]time.Duration
}

// Run lives.
func (s Steps) Run(ctx context.Context) (out []Step, err error) {
	receiver := NewReceiver()
	server := httptest.NewServer(receiver)
	defer server.Close()
	working, stop := context.WithCancel(ctx)
	work, working := errgroup.WithContext(working)
	var kinds []*timed
	for _, kind := range [][3]string{{s.Silent, "", "off"}, {s.Telling, server.URL, "on"}} {
		var k *timed
		pprof.Do(ctx, labelled(kind[2]), func(ctx context.Context) { // whatever it starts has the label
			if k, err = openTimed(ctx, kind[0], kind[1]); err == nil {
				work.Go(func() error { return k.replica.run(working) })
			}
		})
		if err != nil {
			stop()
			return nil, errors.Join(err, work.Wait())
		}
		k.label = kind[2]
		defer func() { err = errors.Join(err, k.close(ctx)) }()
		kinds = append(kinds, k)
	}
	for i := 0; i < s.Lives && err == nil; i++ {
		for j := range kinds {
			k := kinds[(i+j)%2]
			if pprof.Do(ctx, labelled(k.label), func(ctx context.Context) { err = k.life(ctx, fmt.Sprintf("a-%04d", i)) }); err != nil {
				break
			}
		}
	}
	stop()
	if err = errors.Join(err, work.Wait()); err != nil {
		return nil, err
	}
	for _, name := range stepNames {
		out = append(out, Step{name, CostResult{Off: timesOf(kinds[0].times[name]), On: timesOf(kinds[1].times[name])}})
	}
	return out, nil
}

func openTimed(ctx context.Context, target, endpoint string) (k *timed, err error) {
	log := slog.New(slog.DiscardHandler)
	k = &timed{times: map[string][]time.Duration{}}
	if k.replica, err = openReplica(ctx, target, endpoint, log); err != nil {
		return nil, err
	}
	gate, err := access.Open(access.Config{}, nil)
	if err != nil {
		return nil, errors.Join(err, k.close(ctx))
	}
	serve := func(h http.Handler) caller {
		s := httptest.NewServer(h)
		k.servers = append(k.servers, s)
		return newCaller([]string{s.URL})
	}
	k.control = serve(rest.NewControl(k.replica.control, recovery.New(k.replica.store, recovery.DefaultConfig(), time.Hour), gate, k.replica.emitter, log))
	if k.remote, err = enrol(ctx, k.control, serve(rest.NewNode(k.replica.fleet, k.replica.emitter, log)), "n-1", nil); err != nil {
		return nil, errors.Join(err, k.close(ctx))
	}
	return k, nil
}

func (k *timed) close(ctx context.Context) error {
	for _, s := range k.servers {
		s.Close()
	}
	return k.replica.close(ctx)
}

// life is one allocation from request to released.
func (k *timed) life(ctx context.Context, id string) error {
	post := func(path string, body any) func() error {
		return func() error {
			_, err := k.control.call(ctx, http.MethodPost, path, traced(http.Header{}), body, nil)
			return err
		}
	}
	task := func(observed string) error {
		if err := k.still(ctx, "a task", func(t *store.Tx) (bool, error) {
			_, err := t.NextTask(k.remote.node)
			if store.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		}); err != nil {
			return err
		}
		var claimed store.Task
		if err := k.time("claim", func() (err error) {
			var ok bool
			if claimed, ok, err = k.remote.wait(ctx); err == nil && !ok {
				err = errors.New("no task")
			}
			return err
		}); err != nil {
			return err
		}
		return k.time("result", func() error { _, err := k.remote.done(ctx, claimed, observed); return err })
	}
	if err := k.time("request → accepted", post("/v1/allocations", rest.AllocationRequest{AllocationID: id, NodePool: "p", Image: "i", RequestedBy: "alice"})); err != nil {
		return err
	}
	if err := errors.Join(task(""), task(workflow.ObservedRunning)); err != nil {
		return err
	}
	if err := k.still(ctx, semconv.Active, k.in(id, semconv.Active)); err != nil {
		return err
	}
	if err := k.time("release → accepted", post("/v1/allocations/"+id+"/release", rest.ActionRequest{Actor: "alice"})); err != nil {
		return err
	}
	if err := errors.Join(task(""), task(workflow.ObservedAbsent)); err != nil {
		return err
	}
	return k.still(ctx, semconv.Released, k.in(id, semconv.Released))
}

func (k *timed) time(step string, do func() error) error {
	began := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	k.times[step] = append(k.times[step], time.Since(began))
	return nil
}

// labelled is how the profile of whatever tells, or does not, is known.
func labelled(telemetry string) pprof.LabelSet { return pprof.Labels("telemetry", telemetry) }

func (k *timed) in(id, state string) func(*store.Tx) (bool, error) {
	return func(t *store.Tx) (bool, error) {
		a, err := t.Allocation(id)
		return a.State == state, err
	}
}

// still waits until it has come so far and no message waits, and a little for whoever is at its last statement.
func (k *timed) still(ctx context.Context, what string, so func(*store.Tx) (bool, error)) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 2*time.Millisecond) {
		quiet := false
		if err := k.replica.store.View(ctx, "still", func(t *store.Tx) error {
			yes, err := so(t)
			if err != nil || !yes {
				return err
			}
			waiting, _, err := t.OutboxBacklog()
			quiet = waiting == 0
			return err
		}); err != nil || quiet {
			pause(ctx, 5*time.Millisecond)
			return err
		}
	}
	return fmt.Errorf("waited a minute for %s", what)
}

// traced gives a request the headers of a caller that traces it.
func traced(h http.Header) http.Header {
	ctx := telemetry.WithSpan(context.Background(), telemetry.NewTrace())
	telemetry.Inject(telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c")), h)
	return h
}
