package recovery_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// A workflow is stuck since it last got on, not since it began; to look again at what it waits for is not
// to get on.
func TestAWorkflowIsStuckSinceItGotOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		var hours atomic.Int64
		start := time.Now().Truncate(time.Millisecond)
		at := func(h int64) time.Time { return start.Add(time.Duration(h) * time.Hour) }
		s := storetest.Open(t, target, store.Options{Now: func() time.Time { return at(hours.Load()) }})
		service := recovery.New(s, recovery.DefaultConfig(), time.Minute)
		w := store.Workflow{ID: "wf-1", AllocationID: "a-1", Operation: "provision", OutboxID: "ob-1", Trace: telemetry.NewTrace()}
		move := func(h int64, state string, step int, on string) {
			t.Helper()
			hours.Store(h)
			if err := s.Update(t.Context(), "move", func(tx *store.Tx) (err error) {
				if w, err = tx.Workflow("wf-1"); err != nil {
					return err
				}
				w.Step, w.WaitingOn = step, on
				return tx.MoveWorkflow(&w, state)
			}); err != nil {
				t.Fatal(err)
			}
		}
		since := func(h int64, older time.Duration) (got string) {
			t.Helper()
			hours.Store(h)
			all, err := service.Stuck(t.Context(), older)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range all.Items {
				if i.Kind == "workflow" {
					got += i.Since.Sub(start.UTC()).String()
				}
			}
			return got
		}
		if err := s.Update(t.Context(), "begin", func(tx *store.Tx) error {
			if _, err := tx.CreateAllocation(store.Allocation{ID: "a-1", Pool: "p"}); err != nil {
				return err
			}
			_, err := tx.StartWorkflow(w)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if got := since(2, time.Hour); got != "0s" {
			t.Errorf("nothing was done: since %q", got)
		}
		move(3, semconv.Running, 0, "")
		move(3, semconv.Waiting, 0, "task")
		move(5, semconv.Waiting, 0, "task") // looked again
		if got := since(6, time.Hour); got != "3h0m0s" {
			t.Errorf("it waits: since %q", got)
		}
		move(6, semconv.Running, 1, "")
		if got := since(6, time.Hour); got != "" {
			t.Errorf("it has just got on, and is stuck since %q", got)
		}
		if got := since(9, time.Hour); got != "6h0m0s" {
			t.Errorf("it got on to the next step: since %q", got)
		}
	})
}
