package workflow_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// must is what every event of a kind carries (the telemetry contract's section on lifecycle events): identifiers,
// and the attributes without which it says nothing.
var must = map[string][]string{
	semconv.EventAllocationState: {semconv.AllocationID, semconv.CorrelationID, semconv.To},
	semconv.EventNodeAssigned:    {semconv.NodeID, semconv.NodeInstanceID, semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID},
	semconv.EventNodeUnassigned:  {semconv.NodeID, semconv.NodeInstanceID, semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID},
	semconv.EventNodeInstance:    {semconv.NodeID, semconv.NodeInstanceID, semconv.To},
	semconv.EventNodeOccupancy:   {semconv.NodeID, semconv.NodeInstanceID, semconv.CorrelationID, semconv.From, semconv.To, semconv.Reason},
	semconv.EventWorkflowState:   {semconv.WorkflowID, semconv.AllocationID, semconv.CorrelationID, semconv.Operation, semconv.To},
	semconv.EventTaskState:       {semconv.TaskID, semconv.WorkflowID, semconv.AllocationID, semconv.CorrelationID, semconv.NodeID, semconv.TaskType, semconv.To},
	semconv.EventProviderState: {semconv.ProviderJob, semconv.WorkflowID, semconv.AllocationID, semconv.CorrelationID, semconv.Provider, semconv.Operation, semconv.To,
		semconv.ProviderStatus, semconv.ConfigVersion},
	semconv.EventProviderPoll: {semconv.ProviderJob, semconv.WorkflowID, semconv.AllocationID, semconv.CorrelationID, semconv.PollOK},
	semconv.EventProjection:   {semconv.ProviderJob, semconv.WorkflowID, semconv.AllocationID, semconv.CorrelationID, semconv.Projection, semconv.Field, semconv.Value},
	semconv.EventOutbox:       {semconv.OutboxID, semconv.AllocationID, semconv.CorrelationID, semconv.Subject, semconv.To},
	semconv.EventAudit:        {semconv.CorrelationID, semconv.Actor, semconv.ActorType, semconv.Action, semconv.Reason},
}

// mustOfClaimed is what events of a task carry beside that from its claim on.
var mustOfClaimed = []string{semconv.ClaimID, semconv.NodeInstanceID, semconv.Fence}

// One allocation on a node and one of a provider, with a forged result and a fence, tell events of each kind, and
// no event is without what it is found by.
func TestEveryEventSaysWhatItIsAbout(t *testing.T) {
	c := telemetry.DefaultConfig()
	c.Endpoint, c.File = "", filepath.Join(t.TempDir(), "told.jsonl")
	exporter, err := telemetry.Open(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, filepath.Join(t.TempDir(), "p.db"))
	b.options = store.Options{Emitter: exporter.Emitter("provisioner"), Relay: exporter.Emitter("outbox-relay"), DB: exporter.Emitter("db")}
	b.use = func(e *workflow.Engine) { e.Use(&prompt{kind: "aap"}, "virt") }
	b.start()
	ctx := telemetry.With(context.Background(), semconv.CorrelationID, "c-1")
	by := control.Asker{Actor: "alice", ActorType: "user", Reason: "no longer needed"}
	agent := b.agent("n-1")
	for _, want := range []control.Request{{ID: "a-1", Pool: "p", Image: "i", RequestedBy: "alice"}, {ID: "a-2", Pool: "virt", Image: "i", RequestedBy: "alice"}} {
		if _, _, err := b.control.Create(ctx, want); err != nil {
			t.Fatal(err)
		}
	}
	b.do(agent, workflow.TaskPrepare, "")
	k := b.claim(agent, workflow.TaskProvision)
	forged := k
	forged.Claim.Fence++
	refused(t, b.report(agent, forged, fleet.Result{OK: true}), lifecycle.WrongClaim)
	if err := b.report(agent, k, fleet.Result{OK: true, Observed: workflow.ObservedRunning}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a-1", "a-2"} {
		b.until(id, semconv.Active)
		if _, err := b.control.Release(ctx, id, by); err != nil {
			t.Fatal(err)
		}
	}
	b.do(agent, workflow.TaskDeprovision, "")
	b.do(agent, workflow.TaskWipe, workflow.ObservedAbsent)
	b.until("a-1", semconv.Released)
	b.until("a-2", semconv.Released)
	if _, _, err := recovery.New(b.store, recovery.DefaultConfig(), 0).Do(ctx, recovery.Nodes, "fence", recovery.Request{
		ID: "n-1", Reason: "suspect", By: recovery.By{Actor: "kim", ActorType: "admin"},
	}); err != nil {
		t.Fatal(err)
	}
	b.halt()
	if err := exporter.Close(context.Background()); err != nil {
		t.Fatal(err)
	}

	told, tasks := map[string]int{}, map[string]int{}
	check := func(r *record.Record, keys []string) {
		for _, key := range keys {
			if v, ok := r.Attrs.Get(key); !ok || v == "" {
				t.Errorf("%s without %s: %v", r.Name, key, r.Attrs)
			}
		}
	}
	reader := otlpfile.Reader{Reject: func(r otlpfile.Rejection) { t.Error(r) }, Record: func(r *record.Record) {
		if r.Signal != record.Log || r.Name == "" || r.Name == semconv.EventHeartbeat {
			return
		}
		told[r.Name]++
		keys, known := must[r.Name]
		if !known {
			t.Errorf("an event that nobody knows: %s", r.Name)
		}
		check(r, append([]string{semconv.EventIDKey}, keys...))
		if r.Name == semconv.EventTaskState {
			to, _ := r.Attrs.Get(semconv.To)
			if tasks[to]++; to != semconv.Queued {
				check(r, mustOfClaimed)
			}
			if to == semconv.Rejected {
				if why, _ := r.Attrs.Get(semconv.Reason); why != string(lifecycle.WrongClaim) {
					t.Errorf("rejected for %q", why)
				}
			}
		}
		if to, _ := r.Attrs.Get(semconv.To); r.Name == semconv.EventNodeOccupancy && slices.Contains([]string{lifecycle.Reserved, lifecycle.Occupied, lifecycle.Cleanup}, to) {
			check(r, []string{semconv.AllocationID})
		}
	}}
	if err := reader.ReadFile(c.File); err != nil {
		t.Fatal(err)
	}
	for name := range must {
		if told[name] == 0 {
			t.Errorf("no %s was told", name)
		}
	}
	if tasks[semconv.Queued] != 4 || tasks[semconv.Dispatched] != 4 || tasks[semconv.Succeeded] != 4 || tasks[semconv.Rejected] != 1 {
		t.Errorf("tasks were told to be %v", tasks)
	}
}
