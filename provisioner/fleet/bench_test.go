package fleet_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// What a result's transaction takes, with and without what it tells: allocations say more than time.
func BenchmarkReport(b *testing.B) {
	b.Run("silent", func(b *testing.B) { benchmarkReport(b, func(string) *telemetry.Emitter { return nil }, false) })
	b.Run("kept", func(b *testing.B) { benchmarkTelling(b, true) })
	b.Run("said", func(b *testing.B) { benchmarkTelling(b, false) })
}

// benchmarkTelling keeps what is told in the journal, or says it after the commit.
func benchmarkTelling(b *testing.B, journal bool) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	c := telemetry.DefaultConfig()
	c.Endpoint = receiver.URL
	e, err := telemetry.Open(c, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { b.StopTimer(); _ = e.Close(context.Background()) }()
	benchmarkReport(b, func(service string) *telemetry.Emitter { return e.Emitter(service) }, journal)
}

func benchmarkReport(b *testing.B, source func(string) *telemetry.Emitter, journal bool) {
	ctx := b.Context()
	s, err := store.Open(ctx, filepath.Join(b.TempDir(), "p.db"), store.Options{
		DB: source("db"), Emitter: source("provisioner"), Relay: source("outbox-relay"), Journal: journal,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { b.StopTimer(); _ = s.Close() }()
	f := fleet.New(s, fleet.DefaultConfig(), source("provisioner"))
	agent := fleet.Agent{NodeID: "n-1", InstanceID: "ni-1"}
	ids := make([]string, b.N)
	if err := s.Update(ctx, "seed", func(t *store.Tx) error { return seedTasks(t, agent, ids) }); err != nil {
		b.Fatal(err)
	}
	emitter := source("provisioner")
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for _, id := range ids {
		began := time.Now()
		request := telemetry.With(telemetry.WithSpan(ctx, telemetry.NewTrace()), semconv.CorrelationID, "c-1", semconv.RequestID, "r-1")
		request, span := emitter.Start(request, "POST", telemetry.Server)
		err := f.Report(request, agent, id, "cl-"+id, 1, fleet.Result{OK: true, Observed: "running"})
		span.End()
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/4].Nanoseconds())/1e3, "quarter-µs/op") // what others do on the machine changes it least
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "median-µs/op")
}

func seedTasks(t *store.Tx, agent fleet.Agent, ids []string) error {
	n := store.Node{ID: agent.NodeID}
	if err := errors.Join(t.RegisterNode(n.ID, "p"), t.OpenInstance(&n, agent.InstanceID, "b-1", "host-1")); err != nil {
		return err
	}
	for i := range ids {
		ids[i] = telemetry.NewID("t")
		w := store.Workflow{ID: telemetry.NewID("wf"), Operation: "provision", CorrelationID: telemetry.NewID("c"), OutboxID: telemetry.NewID("ob"), Trace: telemetry.NewTrace()}
		a, err := t.CreateAllocation(store.Allocation{ID: telemetry.NewID("a"), Pool: "p", Image: "i", RequestedBy: "alice"})
		if err != nil {
			return err
		}
		w.AllocationID = a.ID
		if _, err := t.StartWorkflow(w); err != nil {
			return err
		}
		k := store.Task{
			ID: ids[i], WorkflowID: w.ID, AllocationID: a.ID, NodeID: agent.NodeID, Type: "provision", Step: 1, Attempt: 1,
			ExpiresAt: t.Now().Add(time.Hour), CorrelationID: w.CorrelationID, Trace: w.Trace.Child(), Parent: w.Trace,
		}
		if err := t.QueueTask(k); err != nil {
			return err
		}
		k.State = semconv.Queued
		k.Claim = lifecycle.Claim{ID: "cl-" + k.ID, Fence: 1, InstanceID: agent.InstanceID, LeaseUntil: t.Now().Add(time.Hour)}
		if err := t.MoveTask(&k, semconv.Dispatched, ""); err != nil {
			return err
		}
	}
	return nil
}
