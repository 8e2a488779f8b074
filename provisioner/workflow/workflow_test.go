package workflow_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a provisioner without its network.
type bench struct {
	t       *testing.T
	target  string
	store   *store.Store
	control *control.Control
	fleet   *fleet.Fleet
	config  workflow.Config
	lease   time.Duration
	halt    func()

	options store.Options            // who speaks
	use     func(e *workflow.Engine) // providers; nil: none
}

func newBench(t *testing.T, target string) *bench {
	t.Helper()
	c := workflow.DefaultConfig()
	c.Tick, c.RetryWait, c.CapacityRetry, c.Attempts, c.Claims = 10*time.Millisecond, 5*time.Millisecond, 10*time.Millisecond, 2, 2
	b := &bench{t: t, target: target, config: c, lease: time.Minute}
	t.Cleanup(func() { b.halt() })
	return b
}

// start opens the store and sets engine and relay to work; halt ends both.
func (b *bench) start() *bench {
	b.t.Helper()
	s, err := store.Open(context.Background(), b.target, b.options)
	if err != nil {
		b.t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(b.t.Output(), nil))
	b.store, b.control = s, control.New(s, time.Minute)
	b.fleet = fleet.New(s, fleet.Config{Lease: b.lease, LongestWait: 5 * time.Second, TokenLife: time.Minute}, b.options.Emitter)
	e := workflow.New(s, b.config, b.options.Emitter, log)
	if b.use != nil {
		b.use(e)
	}
	r := outbox.New(s, e, outbox.DefaultConfig(), b.options.Relay, log)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- e.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()
	stopped := false
	b.halt = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		<-done
		<-done
		if err := s.Close(); err != nil {
			b.t.Error(err)
		}
	}
	return b
}

func (b *bench) agent(node string) fleet.Agent {
	b.t.Helper()
	token, _, err := b.control.RegisterNode(context.Background(), node, "p")
	if err != nil {
		b.t.Fatal(err)
	}
	a, err := b.fleet.Enrol(context.Background(), token, "boot-1", node)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func (b *bench) create(id string) {
	b.t.Helper()
	if _, _, err := b.control.Create(context.Background(), control.Request{ID: id, Pool: "p", Image: "i", RequestedBy: "alice"}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) claim(a fleet.Agent, kind string) store.Task {
	b.t.Helper()
	k, ok, err := b.fleet.Wait(context.Background(), a, 5*time.Second)
	if err != nil || !ok || k.Type != kind {
		b.t.Fatalf("claimed %q %v %v, want %s", k.Type, ok, err, kind)
	}
	return k
}

func (b *bench) report(a fleet.Agent, k store.Task, r fleet.Result) error {
	return b.fleet.Report(context.Background(), a, k.ID, k.Claim.ID, k.Claim.Fence, r)
}

// do claims a task and ends it well.
func (b *bench) do(a fleet.Agent, kind, observed string) {
	b.t.Helper()
	if err := b.report(a, b.claim(a, kind), fleet.Result{OK: true, Observed: observed}); err != nil {
		b.t.Fatal(err)
	}
}

// until waits for a state.
func (b *bench) until(id, state string) store.Allocation {
	b.t.Helper()
	var a store.Allocation
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var err error
		if a, err = b.control.Get(context.Background(), id); err != nil {
			b.t.Fatal(err)
		}
		if a.State == state {
			return a
		}
	}
	b.t.Fatalf("%s is %s (%s), want %s", id, a.State, a.Reason, state)
	return a
}

func (b *bench) occupancy(node, want, tenant string) {
	b.t.Helper()
	all, err := b.control.Nodes(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, n := range all {
		if n.ID == node && (n.Occupancy != want || n.AllocationID != tenant) {
			b.t.Fatalf("%s is %s of %q, want %s of %q", node, n.Occupancy, n.AllocationID, want, tenant)
		}
	}
}

func refused(t *testing.T, err error, want lifecycle.Reason) {
	t.Helper()
	var r *lifecycle.Refusal
	if !errors.As(err, &r) || r.Reason != want {
		t.Fatalf("%v, want %s", err, want)
	}
}

func TestWholeLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start()
		a := b.agent("n-1")
		b.create("a-1")
		b.do(a, workflow.TaskPrepare, "")
		b.occupancy("n-1", lifecycle.Occupied, "a-1")
		b.do(a, workflow.TaskProvision, workflow.ObservedRunning)
		b.until("a-1", semconv.Active)
		if _, err := b.control.Release(context.Background(), "a-1", control.Asker{Actor: "alice", ActorType: "user"}); err != nil {
			t.Fatal(err)
		}
		b.occupancy("n-1", lifecycle.Cleanup, "a-1")
		b.do(a, workflow.TaskDeprovision, "")
		b.do(a, workflow.TaskWipe, workflow.ObservedAbsent)
		b.until("a-1", semconv.Released)
		b.occupancy("n-1", lifecycle.Free, "")
	})
}

func TestSuccessWithoutProofIsNotActive(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start()
		a := b.agent("n-1")
		b.create("a-1")
		b.do(a, workflow.TaskPrepare, "")
		b.do(a, workflow.TaskProvision, "")
		if got := b.until("a-1", semconv.Failed); !strings.Contains(got.Reason, string(lifecycle.ReadinessUnproven)) {
			t.Fatal(got.Reason)
		}
		b.occupancy("n-1", lifecycle.Cleanup, "a-1")
	})
}

// clean has an operator vouch that nothing of an allocation runs any more.
func (b *bench) clean(allocation, evidence string) error {
	service := recovery.New(b.store, recovery.DefaultConfig(), time.Minute)
	_, _, err := service.Do(context.Background(), recovery.Allocations, "force-cleanup",
		recovery.Request{ID: allocation, By: recovery.By{Actor: "kim", ActorType: "admin"}, Reason: "looked", Absent: true, Evidence: evidence})
	return err
}

func TestUnclaimedTasksExpireAndTheNodeStaysOut(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		b.config.ClaimTimeout = 60 * time.Millisecond
		b.start()
		b.agent("n-1")
		b.create("a-1")
		got := b.until("a-1", semconv.Failed)
		if got.Reason != "task node.prepare expired after 2 attempts: not claimed before expires_at" {
			t.Fatal(got.Reason)
		}
		b.occupancy("n-1", lifecycle.Cleanup, "a-1")
		b.create("a-2") // must not get the node
		time.Sleep(50 * time.Millisecond)
		if a, _ := b.control.Get(context.Background(), "a-2"); a.State != semconv.Requested {
			t.Fatal(a.State)
		}
		refused(t, b.clean("a-1", ""), lifecycle.EvidenceMissing)
		if err := b.clean("a-1", "console log"); err != nil {
			t.Fatal(err)
		}
		b.until("a-2", semconv.Provisioning)
		refused(t, b.clean("a-2", "console log"), lifecycle.OperationInProgress)
	})
}

func TestALostClaimIsOfferedAgainAndFencedOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		b.lease = 80 * time.Millisecond
		b.start()
		a := b.agent("n-1")
		b.create("a-1")
		first := b.claim(a, workflow.TaskPrepare)
		second := b.claim(a, workflow.TaskPrepare) // after the lease of the first
		if second.ID != first.ID || second.Claim.Fence != first.Claim.Fence+1 {
			t.Fatalf("%+v after %+v", second, first)
		}
		refused(t, b.report(a, first, fleet.Result{OK: true}), lifecycle.StaleFence)
		if err := b.report(a, second, fleet.Result{OK: true}); err != nil {
			t.Fatal(err)
		}
		b.claim(a, workflow.TaskProvision) // and twice lost is a failed task, twice that a failed allocation
		b.claim(a, workflow.TaskProvision)
		b.claim(a, workflow.TaskProvision)
		b.claim(a, workflow.TaskProvision)
		if got := b.until("a-1", semconv.Failed); !strings.Contains(got.Reason, "lease ended without a result") {
			t.Fatal(got.Reason)
		}
	})
}

func TestCancelDuringProvisioning(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start()
		a := b.agent("n-1")
		b.create("a-1")
		k := b.claim(a, workflow.TaskPrepare)
		if _, err := b.control.Cancel(context.Background(), "a-1", control.Asker{Actor: "alice", ActorType: "user"}); err != nil {
			t.Fatal(err)
		}
		wipe := b.claim(a, workflow.TaskWipe)
		refused(t, b.report(a, k, fleet.Result{OK: true}), lifecycle.TaskOver)
		if err := b.report(a, wipe, fleet.Result{OK: true, Observed: workflow.ObservedAbsent}); err != nil {
			t.Fatal(err)
		}
		b.until("a-1", semconv.Canceled)
		b.occupancy("n-1", lifecycle.Free, "")
	})
}

func TestCancelBeforeAnyWork(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start() // no node at all
		b.create("a-1")
		if a, err := b.control.Cancel(context.Background(), "a-1", control.Asker{Actor: "alice"}); err != nil || a.State != semconv.Canceled {
			t.Fatal(a.State, err)
		}
	})
}

func TestFailedReleaseNeedsProofToEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start()
		a := b.agent("n-1")
		b.create("a-1")
		b.do(a, workflow.TaskPrepare, "")
		b.do(a, workflow.TaskProvision, workflow.ObservedRunning)
		b.until("a-1", semconv.Active)
		alice, kim := control.Asker{Actor: "alice", ActorType: "user"}, control.Asker{Actor: "kim", ActorType: "admin", Reason: "again"}
		fail := func() {
			t.Helper()
			for range 2 {
				if err := b.report(a, b.claim(a, workflow.TaskDeprovision), fleet.Result{Code: "unmount", Message: "target is busy"}); err != nil {
					t.Fatal(err)
				}
			}
			b.until("a-1", semconv.ReleaseFailed)
			b.occupancy("n-1", lifecycle.Cleanup, "a-1")
		}
		if _, err := b.control.Release(context.Background(), "a-1", alice); err != nil {
			t.Fatal(err)
		}
		fail()
		_, err := b.control.Release(context.Background(), "a-1", alice)
		refused(t, err, lifecycle.UnnamedActor) // a retry wants a reason
		if _, err := b.control.Release(context.Background(), "a-1", kim); err != nil {
			t.Fatal(err)
		}
		fail()
		if err := b.clean("a-1", "console log"); err != nil {
			t.Fatal(err)
		}
		b.until("a-1", semconv.Released)
		b.occupancy("n-1", lifecycle.Free, "")
	})
}

// An engine that is stopped between any two steps leaves a workflow that the next one finishes, and no
// task is queued twice for one attempt.
func TestRestartBetweenSteps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start()
		a := b.agent("n-1")
		again := func() { b.halt(); b.start() }
		b.create("a-1")
		again()
		k := b.claim(a, workflow.TaskPrepare)
		again()
		if err := b.report(a, k, fleet.Result{OK: true}); err != nil {
			t.Fatal(err)
		}
		again()
		b.do(a, workflow.TaskProvision, workflow.ObservedRunning)
		again()
		b.until("a-1", semconv.Active)
		var tasks int
		if err := b.store.View(context.Background(), "count", func(t *store.Tx) error {
			all, err := t.Workflows("a-1")
			for _, w := range all {
				for step := range 5 {
					if k, err := t.TaskOfStep(w.ID, step); err == nil {
						tasks += k.Attempt
					}
				}
			}
			if len(all) != 1 {
				b.t.Errorf("%d workflows", len(all))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if tasks != 2 {
			t.Fatalf("%d tasks, want 2", tasks)
		}
	})
}

// A new node instance ends the claims of the old one; its late result does not count.
func TestReimageMidTask(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start()
		old := b.agent("n-1")
		b.create("a-1")
		k := b.claim(old, workflow.TaskPrepare)
		fresh := b.agent("n-1")
		again := b.claim(fresh, workflow.TaskPrepare)
		if again.ID != k.ID || again.Claim.Fence != 2 {
			t.Fatalf("%+v", again.Claim)
		}
		refused(t, b.report(old, k, fleet.Result{OK: true}), lifecycle.SupersededInstance)
		if err := b.report(fresh, again, fleet.Result{OK: true}); err != nil {
			t.Fatal(err)
		}
	})
}
