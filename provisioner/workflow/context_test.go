package workflow_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// attentive is a provider that notes in whose context it is called, and does nothing.
type attentive struct {
	mu    sync.Mutex
	calls map[string]telemetry.Carrier
}

func (a *attentive) note(ctx context.Context, call string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[call] = telemetry.Carry(ctx)
}

func (a *attentive) called(call string) (telemetry.Carrier, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.calls[call]
	return c, ok
}

func (a *attentive) Identity() provider.Identity {
	return provider.Identity{Provider: "test", Instance: "1"}
}
func (a *attentive) Traits() provider.Traits {
	return provider.Traits{Cancels: true, Poll: 5 * time.Millisecond}
}
func (a *attentive) Launch(ctx context.Context, _ provider.Request) (provider.Launch, error) {
	a.note(ctx, "launch")
	return provider.Launch{ID: "7", Kind: "job", Status: provider.Status{State: provider.Pending}}, nil
}
func (a *attentive) Adopt(ctx context.Context, _ provider.Request, _ time.Time) (l provider.Launch, found, sure bool, err error) {
	a.note(ctx, "adopt")
	return l, false, true, nil
}
func (a *attentive) Poll(ctx context.Context, _ provider.Job) (provider.Status, error) {
	a.note(ctx, "poll")
	return provider.Status{State: provider.Running}, nil
}
func (a *attentive) Cancel(ctx context.Context, _ provider.Job) (provider.Acknowledgement, error) {
	a.note(ctx, "cancel")
	return provider.Accepted, nil
}
func (a *attentive) Project(ctx context.Context, _ provider.Job, s provider.Status) (provider.Status, error) {
	a.note(ctx, "project")
	return s, nil
}

// A request's correlation id, and the trace that follows from it, reach the provider through the outbox and
// the database, although each step is another process's.
func TestContextThroughDatabaseOutboxAndProvider(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		config := telemetry.DefaultConfig()
		config.Endpoint = ""
		exporter, err := telemetry.Open(config, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = exporter.Close(context.Background()) }()
		emitter := exporter.Emitter("provisioner")
		open := func() *store.Store {
			s, err := store.Open(t.Context(), target, store.Options{Emitter: emitter, Relay: emitter, DB: emitter})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		request := telemetry.NewTrace()

		first := open() // takes the request
		ctx := telemetry.Extract(context.Background(), http.Header{
			"Traceparent": {request.String()}, "Tracestate": {"acme=1"}, "Baggage": {"tenant=blue;tier=2, correlation_id=c-ext-1", "not a member"},
		})
		if _, _, err := control.New(first, time.Minute).Create(ctx, control.Request{ID: "a-1", Pool: "p", Image: "i", RequestedBy: "alice"}); err != nil {
			t.Fatal(err)
		}
		if err := first.View(t.Context(), "message", func(tx *store.Tx) error {
			all, err := tx.UnsentMessages(time.Now().Add(time.Hour), 1)
			if err != nil || len(all) != 1 {
				t.Fatalf("the outbox has %+v, %v", all, err)
			}
			of := all[0].Context(t.Context())
			if span := telemetry.SpanOf(of); span.State != "acme=1" || span.Trace != request.Trace || telemetry.RemoteBaggage(of) != "tenant=blue;tier=2" ||
				telemetry.ID(of, semconv.CorrelationID) != "c-ext-1" || telemetry.ID(of, semconv.AllocationID) != "a-1" || telemetry.ID(of, semconv.OutboxID) != all[0].ID {
				t.Errorf("the outbox has %+v", all)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		second := open() // relays it, and does no step
		c := workflow.DefaultConfig()
		c.Tick = 10 * time.Millisecond
		run, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			done <- outbox.New(second, workflow.New(second, c, emitter, log), outbox.DefaultConfig(), emitter, log).Run(run)
		}()
		await(t, "a workflow", func() bool {
			var n int
			_ = second.View(t.Context(), "workflows", func(tx *store.Tx) error {
				all, err := tx.Workflows("a-1")
				n = len(all)
				return err
			})
			return n == 1
		})
		stop()
		<-done
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
		third := open() // does the steps
		defer func() { _ = third.Close() }()
		p := &attentive{calls: map[string]telemetry.Carrier{}}
		engine := workflow.New(third, c, emitter, log)
		engine.Use(p, "p")
		run, stop = context.WithCancel(context.Background())
		go func() { done <- engine.Run(run) }()
		defer func() { stop(); <-done }()
		for _, call := range []string{"launch", "project", "poll"} {
			await(t, call, func() bool { _, ok := p.called(call); return ok })
		}
		var w store.Workflow
		if err := third.View(t.Context(), "workflow", func(tx *store.Tx) error {
			all, err := tx.Workflows("a-1")
			w = all[0]
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if w.Link.Trace != request.Trace || w.CorrelationID != "c-ext-1" {
			t.Errorf("the workflow is linked to %s, of %s", w.Link, w.CorrelationID)
		}
		for _, call := range []string{"launch", "project", "poll"} {
			carrier, _ := p.called(call)
			got := carrier.Resume(context.Background())
			if telemetry.RemoteBaggage(got) != "tenant=blue;tier=2" {
				t.Errorf("%s: what is not ours is %q", call, telemetry.RemoteBaggage(got))
			}
			if telemetry.SpanOf(got).Trace != w.Trace.Trace || carrier.Tracestate != "" {
				t.Errorf("%s is of trace %s, the workflow of %s", call, carrier.Traceparent, w.Trace)
			}
			for key, want := range map[string]string{semconv.CorrelationID: "c-ext-1", semconv.AllocationID: "a-1", semconv.WorkflowID: w.ID} {
				if have := telemetry.ID(got, key); have != want {
					t.Errorf("%s: %s is %q, want %q", call, key, have, want)
				}
			}
		}
	})
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("no %s", what)
}
