package workflow_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// unseen is a provider whose view cannot be written while it is away.
type unseen struct {
	attentive
	away    atomic.Bool
	written atomic.Int64
}

func (u *unseen) Project(_ context.Context, _ provider.Job, s provider.Status) (provider.Status, error) {
	if u.away.Load() {
		return provider.Status{}, errors.New("the hub is away")
	}
	u.written.Add(1)
	return s, nil
}

// A view that could not be written is listed as stuck, and written when somebody has it repaired.
func TestAViewIsRepaired(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		s := storetest.Open(t, target, store.Options{})
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		c := workflow.DefaultConfig()
		c.Tick = 10 * time.Millisecond
		p := &unseen{attentive: attentive{calls: map[string]telemetry.Carrier{}}}
		p.away.Store(true)
		engine := workflow.New(s, c, nil, log)
		engine.Use(p, "p")
		run, stop := context.WithCancel(context.Background())
		done := make(chan error, 2)
		go func() { done <- engine.Run(run) }()
		go func() { done <- outbox.New(s, engine, outbox.DefaultConfig(), nil, log).Run(run) }()
		defer func() { stop(); <-done; <-done }()
		if _, _, err := control.New(s, time.Minute).Create(t.Context(), control.Request{ID: "a-1", Pool: "p", Image: "i", RequestedBy: "alice"}); err != nil {
			t.Fatal(err)
		}
		service := recovery.New(s, recovery.DefaultConfig(), time.Minute)
		failing := func() bool {
			all, err := service.Stuck(t.Context(), time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range all.Items {
				if i.Kind == "projection" && i.ID == "cr/a-1" && i.Why == "the hub is away" {
					return true
				}
			}
			return false
		}
		await(t, "failing view", failing)
		// Nothing changes of the job any more, so that nobody would write its view again.
		await(t, "job that runs", func() bool { _, ok := p.called("poll"); return ok })
		time.Sleep(20 * time.Millisecond)
		p.away.Store(false)
		before := p.written.Load()
		if _, _, err := service.Do(t.Context(), recovery.Allocations, "repair-projection",
			recovery.Request{ID: "a-1", Reason: "the hub is back", By: recovery.By{Actor: "kim", ActorType: "admin"}}); err != nil {
			t.Fatal(err)
		}
		await(t, "view that is written", func() bool { return p.written.Load() > before && !failing() })
	})
}
