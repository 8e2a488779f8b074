package workflow_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// prompt is a provider that does all it is asked at once, and counts its launches.
type prompt struct {
	kind                     string
	provisions, deprovisions atomic.Int32
}

func (p *prompt) Identity() provider.Identity {
	return provider.Identity{Provider: p.kind, Instance: "lab"}
}
func (p *prompt) Traits() provider.Traits {
	return provider.Traits{Cancels: true, Poll: 5 * time.Millisecond}
}
func (p *prompt) Launch(_ context.Context, r provider.Request) (provider.Launch, error) {
	if r.Operation == provider.Provision {
		p.provisions.Add(1)
	} else {
		p.deprovisions.Add(1)
	}
	return provider.Launch{ID: p.kind + "-7", Kind: "job", Status: provider.Status{State: provider.Running, Raw: "running", Message: "running"}}, nil
}
func (p *prompt) Adopt(context.Context, provider.Request, time.Time) (l provider.Launch, found, sure bool, err error) {
	return l, false, true, nil
}
func (p *prompt) Poll(_ context.Context, j provider.Job) (provider.Status, error) {
	s := provider.Status{State: provider.Succeeded, Raw: "successful", Message: "successful", Result: provider.OK, Observed: provider.ObservedRunning, Proof: "seen"}
	if j.Operation == provider.Deprovision {
		s.Observed = provider.ObservedAbsent
	}
	return s, nil
}
func (p *prompt) Cancel(context.Context, provider.Job) (provider.Acknowledgement, error) {
	return provider.AlreadyOver, nil
}
func (p *prompt) Project(_ context.Context, _ provider.Job, s provider.Status) (provider.Status, error) {
	return s, nil
}

// An allocation that one provider has begun is that provider's to remove, though its pool is another one's by now:
// the other cannot look up its job. Where the first is no longer configured, the release waits and says so, and
// goes on once it is configured again.
func TestThePoolHasMovedToAnotherProvider(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		s := storetest.Open(t, target, store.Options{})
		tenants := control.New(s, time.Minute)
		c := workflow.DefaultConfig()
		c.Tick, c.RetryWait, c.JobLease = 10*time.Millisecond, 10*time.Millisecond, time.Hour // an engine that stops keeps nothing that it has leased
		log := slog.New(slog.DiscardHandler)
		work := func(use func(*workflow.Engine)) (stop func()) {
			ctx, cancel := context.WithCancel(context.Background())
			e := workflow.New(s, c, nil, log)
			use(e)
			done := make(chan error, 2)
			go func() { done <- e.Run(ctx) }()
			go func() { done <- outbox.New(s, e, outbox.DefaultConfig(), nil, log).Run(ctx) }()
			return func() { cancel(); <-done; <-done }
		}
		reaches := func(state string) {
			t.Helper()
			await(t, state, func() bool {
				a, err := tenants.Get(t.Context(), "a-1")
				return err == nil && a.State == state
			})
		}
		eda, aap := &prompt{kind: "eda"}, &prompt{kind: "aap"}
		stop := work(func(e *workflow.Engine) { e.Use(eda, "p") })
		if _, _, err := tenants.Create(t.Context(), control.Request{ID: "a-1", Pool: "p", Image: "i", RequestedBy: "alice"}); err != nil {
			t.Fatal(err)
		}
		reaches(semconv.Active)
		stop()

		stop = work(func(e *workflow.Engine) { e.Use(aap, "p") }) // the first one is gone from the configuration
		if _, err := tenants.Release(t.Context(), "a-1", control.Asker{Actor: "alice", ActorType: "user"}); err != nil {
			t.Fatal(err)
		}
		await(t, "word that eda is not configured", func() (said bool) {
			_ = s.View(t.Context(), "jobs", func(tx *store.Tx) error {
				jobs, err := tx.ProviderJobs("a-1")
				for _, j := range jobs {
					said = said || j.Operation == provider.Deprovision && j.Failure == "no provider eda/lab is configured"
				}
				return err
			})
			return said
		})
		stop()

		stop = work(func(e *workflow.Engine) { e.Use(aap, "p"); e.Use(eda) }) // it is there, and serves no pool
		defer stop()
		reaches(semconv.Released)
		if eda.provisions.Load() != 1 || eda.deprovisions.Load() != 1 || aap.provisions.Load()+aap.deprovisions.Load() != 0 {
			t.Errorf("eda was asked for %d provisions and %d removals, aap for %d and %d",
				eda.provisions.Load(), eda.deprovisions.Load(), aap.provisions.Load(), aap.deprovisions.Load())
		}
	})
}
