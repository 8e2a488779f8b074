package store_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// An illegal move of each kind of thing is refused, changes nothing, and is reported: in a log record with the
// subject's identifiers, and in the count. What was only rehearsed is not.
func TestRefusedMovesAreReported(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		ctx, file := context.Background(), filepath.Join(t.TempDir(), "telemetry.jsonl")
		config := telemetry.DefaultConfig()
		config.Endpoint, config.File = "", file
		exporter, err := telemetry.Open(config, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s := storetest.Open(t, target, store.Options{Emitter: exporter.Emitter("provisioner")})
		var a store.Allocation
		var n store.Node
		w := store.Workflow{ID: "wf-1", AllocationID: "a-1", Operation: lifecycle.OperationProvision, OutboxID: "ob-0", Trace: telemetry.NewTrace()}
		k := store.Task{ID: "t-1", WorkflowID: "wf-1", AllocationID: "a-1", NodeID: "n-1", Type: "wipe", Attempt: 1, ExpiresAt: time.Now().Add(time.Hour)}
		j := store.ProviderJob{Key: "a-1/provision/v/1", AllocationID: "a-1", WorkflowID: "wf-1", Operation: provider.Provision}
		var m store.Message
		if err := s.Update(ctx, "seed", func(tx *store.Tx) (err error) {
			if a, err = tx.CreateAllocation(store.Allocation{ID: "a-1", Pool: "p", Image: "i"}); err != nil {
				return err
			}
			if err := tx.RegisterNode("n-1", "p"); err != nil {
				return err
			}
			if n, err = tx.Node("n-1"); err != nil {
				return err
			}
			if err := tx.OpenInstance(&n, "ni-1", "b-1", "h"); err != nil {
				return err
			}
			if _, err := tx.StartWorkflow(w); err != nil {
				return err
			}
			if w, err = tx.Workflow("wf-1"); err != nil {
				return err
			}
			if err := tx.QueueTask(k); err != nil {
				return err
			}
			id, err := tx.PutOutbox("subject", "a-1", "{}")
			if err != nil {
				return err
			}
			if m, err = tx.Message(id); err != nil {
				return err
			}
			return tx.WantProviderJob(j)
		}); err != nil {
			t.Fatal(err)
		}
		k.State, j.Phase = semconv.Queued, lifecycle.JobWanted
		held := j
		held.Phase = lifecycle.JobFollowing // though nothing was ever launched
		moves := map[store.RefusedMove]func(tx *store.Tx) error{
			{Of: lifecycle.OfAllocation, Reason: lifecycle.IllegalMove}: func(tx *store.Tx) error {
				a := a
				return tx.MoveAllocation(&a, semconv.Active, "", lifecycle.Facts{TasksDone: true, Observed: true})
			},
			{Of: lifecycle.OfNode, Reason: lifecycle.IllegalMove}: func(tx *store.Tx) error {
				n := n
				return tx.MoveNode(&n, lifecycle.Occupied, "", lifecycle.NodeFacts{})
			},
			{Of: lifecycle.OfInstance, Reason: lifecycle.NoSuccessor}: func(tx *store.Tx) error {
				n := n
				return tx.OpenInstance(&n, "ni-1", "b-2", "h")
			},
			{Of: lifecycle.OfWorkflow, Reason: lifecycle.IllegalMove}: func(tx *store.Tx) error {
				w := w
				return tx.MoveWorkflow(&w, semconv.Completed)
			},
			{Of: lifecycle.OfTask, Reason: lifecycle.ClaimIncomplete}: func(tx *store.Tx) error {
				k := k
				return tx.MoveTask(&k, semconv.Dispatched, "")
			},
			{Of: lifecycle.OfMessage, Reason: lifecycle.NotTried}: func(tx *store.Tx) error {
				m := m
				return tx.MoveMessage(&m, semconv.Dead)
			},
			{Of: lifecycle.OfJob, Reason: lifecycle.IllegalMove}: func(tx *store.Tx) error {
				_, err := tx.SaveProviderJob(&held)
				return err
			},
		}
		want := map[store.RefusedMove]int64{}
		for kind, move := range moves {
			for _, try := range []func(context.Context, string, func(*store.Tx) error) error{s.DryRun, s.Update} {
				var why *lifecycle.Refusal
				if err := try(ctx, "refused", move); !errors.As(err, &why) || why.Of != kind.Of || why.Reason != kind.Reason {
					t.Errorf("%s: %v, want %s", kind.Of, err, kind.Reason)
				}
			}
			want[kind] = 1
		}
		// A caller that makes something else of a refusal, as a workflow that gives up, does not keep it to itself.
		if err := s.Update(ctx, "given up", func(tx *store.Tx) error {
			_ = moves[store.RefusedMove{Of: lifecycle.OfNode, Reason: lifecycle.IllegalMove}](tx)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want[store.RefusedMove{Of: lifecycle.OfNode, Reason: lifecycle.IllegalMove}]++
		if d := cmp.Diff(want, s.RefusedMoves()); d != "" {
			t.Error(d)
		}
		if err := s.View(ctx, "look", func(tx *store.Tx) error {
			a, _ := tx.Allocation("a-1")
			n, _ := tx.Node("n-1")
			w, _ := tx.Workflow("wf-1")
			k, _ := tx.Task("t-1")
			m, _ := tx.Message(m.ID)
			j, err := tx.ProviderJob(j.Key)
			if got := []string{a.State, n.Occupancy, n.InstanceID, w.State, k.State, m.State, j.Phase}; !cmp.Equal(got,
				[]string{semconv.Requested, lifecycle.Free, "ni-1", semconv.Scheduled, semconv.Queued, semconv.Pending, lifecycle.JobWanted}) {
				t.Errorf("something was moved: %v", got)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := exporter.Close(ctx); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said := string(text)
		for _, line := range []string{
			"illegal_move: allocation a-1 may not go from requested to active", "illegal_move: node n-1 may not go from free to occupied",
			"no_successor: instance ni-1 may not go from live to superseded", "illegal_move: workflow wf-1 may not go from scheduled to completed",
			"claim_incomplete: task t-1 may not go from queued to dispatched", "not_tried: message " + m.ID + " may not go from pending to dead",
			"illegal_move: job a-1/provision/v/1 may not go from wanted to following",
		} {
			if strings.Count(said, `"move refused: `+line) < 1 {
				t.Errorf("nobody says %q", line)
			}
		}
		if strings.Count(said, "move refused") != len(moves)+1 {
			t.Errorf("%d refusals were told", strings.Count(said, "move refused"))
		}
	})
}

// An attempt that was under way when its message was skipped does not bring the message back when it fails;
// when it arrives, that counts.
func TestAnAttemptUnderWayWhenSkipped(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		s := storetest.Open(t, target, store.Options{})
		update := func(f func(*store.Tx) error) error { return s.Update(t.Context(), "test", f) }
		for to, want := range map[string]string{semconv.Failed: semconv.Dead, semconv.Published: semconv.Published} {
			var under store.Message
			if err := update(func(tx *store.Tx) error {
				id, err := tx.PutOutbox("subject", "a-1", "{}")
				if err != nil {
					return err
				}
				under, err = tx.Message(id)
				skipped := under
				if err != nil {
					return err
				}
				return tx.SkipMessage(&skipped, "poison")
			}); err != nil {
				t.Fatal(err)
			}
			under.Attempts = 1
			err := update(func(tx *store.Tx) error { m := under; return tx.MoveMessage(&m, to) })
			if (err == nil) != (to == semconv.Published) {
				t.Errorf("to %s: %v", to, err)
			}
			if err := s.View(t.Context(), "look", func(tx *store.Tx) error {
				m, err := tx.Message(under.ID)
				if m.State != want {
					t.Errorf("%s, want %s", m.State, want)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
