package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/journal"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver notes the event ids that arrive.
type receiver struct {
	mu     sync.Mutex
	away   bool
	refuse string // the allocation of which it takes nothing, nor what comes together with it
	got    []string
	lost   int
}

func (r *receiver) Deliver(_ context.Context, batches ...telemetry.EncodedBatch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return errors.New("away")
	}
	logs, _, err := telemetry.Decode(batches...)
	if err != nil {
		return err
	}
	var got []string
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, l := range sl.LogRecords().All() {
				id, _ := l.Attributes().Get(semconv.EventIDKey)
				allocation, _ := l.Attributes().Get(semconv.AllocationID)
				if r.refuse != "" && allocation.Str() == r.refuse {
					return fmt.Errorf("%w: no", telemetry.ErrRefused)
				}
				got = append(got, l.EventName()+" "+allocation.Str()+" "+id.Str())
			}
		}
	}
	r.got = append(r.got, got...)
	return nil
}

func (r *receiver) Lost(records int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += records
}

func (r *receiver) arrived() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func config() telemetry.Config {
	c := telemetry.DefaultConfig()
	c.Endpoint, c.Flush = "", 5*time.Millisecond
	return c
}

func open(t *testing.T, target string) *store.Store {
	t.Helper()
	e, err := telemetry.Open(config(), discard())
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), target, store.Options{Emitter: e.Emitter("provisioner"), Journal: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(); _ = e.Close(context.Background()) })
	return s
}

func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func create(t *testing.T, s *store.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.Update(t.Context(), "create", func(tx *store.Tx) error {
			_, err := tx.CreateAllocation(store.Allocation{ID: id, Pool: "p"})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func rows(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	if err := s.View(t.Context(), "rows", func(tx *store.Tx) (err error) { n, _, err = tx.JournalBacklog(); return err }); err != nil {
		t.Fatal(err)
	}
	return n
}

// What was committed is told, by whichever process ships next, under the ids of the time when it happened;
// what was rolled back never is.
func TestWhatWasCommittedIsTold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		first := open(t, target)
		create(t, first, "a-1", "a-2")
		if err := first.Update(t.Context(), "undone", func(tx *store.Tx) error {
			_, err := tx.CreateAllocation(store.Allocation{ID: "a-3", Pool: "p"})
			return errors.Join(err, errors.New("no"))
		}); err == nil {
			t.Fatal("no error")
		}
		if n := rows(t, first); n != 2 {
			t.Fatalf("%d rows, want 2", n)
		}
		_ = first.Close() // as by kill -9: nothing was shipped

		second := open(t, target)
		r := &receiver{away: true}
		ship := journal.New(second, r, config(), discard())
		if err := ship.Drain(t.Context()); err == nil || rows(t, second) != 2 {
			t.Fatal("forgotten before it arrived:", err)
		}
		r.away = false
		if err := ship.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.arrived(); len(got) != 2 || rows(t, second) != 0 {
			t.Fatal(got)
		}
	})
}

// A batch whose arrival was not noted, because the process was killed in between, is sent again with the same names.
func TestSentAgainUnderTheSameNames(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		s := open(t, target)
		create(t, s, "a-1")
		r := &receiver{}
		killed := then{r, func() { _ = s.Close() }}
		if err := journal.New(s, killed, config(), discard()).Drain(t.Context()); err == nil {
			t.Fatal("forgotten by a process that was gone")
		}
		again := open(t, target)
		if again.Shared() { // until the lease of the one that is gone is over
			time.Sleep(5 * time.Second)
		}
		if err := journal.New(again, r, config(), discard()).Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.arrived(); len(got) != 2 || got[0] != got[1] {
			t.Fatal(got)
		}
	})
}

// A process that is stopped in order while a batch is on its way notes that it arrived: nothing is sent twice.
func TestAnOrderlyStopSendsNothingTwice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		s := open(t, target)
		create(t, s, "a-1")
		r := &receiver{}
		ctx, stop := context.WithCancel(t.Context())
		if err := journal.New(s, then{r, stop}, config(), discard()).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if got := r.arrived(); len(got) != 1 || rows(t, s) != 0 {
			t.Fatalf("%v arrived, %d rows are still to be sent", got, rows(t, s))
		}
	})
}

// then does something once a batch has arrived.
type then struct {
	*receiver
	do func()
}

func (s then) Deliver(ctx context.Context, batches ...telemetry.EncodedBatch) error {
	err := s.receiver.Deliver(ctx, batches...)
	s.do()
	return err
}

// One record that is refused takes no other with it.
func TestRefusedOnlyByItself(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "p.db"))
	create(t, s, "a-1", "a-poison", "a-3")
	r := &receiver{refuse: "a-poison"}
	if err := journal.New(s, r, config(), discard()).Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.arrived(); len(got) != 2 || r.lost != 1 || rows(t, s) != 0 {
		t.Fatal(got, r.lost)
	}
}

// A receiver that stays away costs the oldest records, and says so.
func TestTheJournalDoesNotGrowForEver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		s := open(t, target)
		create(t, s, "a-1", "a-2", "a-3", "a-4", "a-5")
		c := config()
		c.Journal = 2
		r := &receiver{away: true}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- journal.New(s, r, c, discard()).Run(ctx) }()
		for end := time.Now().Add(30 * time.Second); rows(t, s) > 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		}
		r.mu.Lock()
		r.away = false
		lost := r.lost
		r.mu.Unlock()
		for end := time.Now().Add(30 * time.Second); rows(t, s) > 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := r.arrived(); len(got) != 2 || lost != 3 {
			t.Fatal(got, lost)
		}
	})
}

// Of two replicas one ships; when it is gone, the other one does.
func TestOneReplicaShips(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		one := open(t, target)
		if !one.Shared() {
			t.Skip("one process")
		}
		two := open(t, target)
		a, b := &receiver{}, &receiver{}
		first, second := journal.New(one, a, config(), discard()), journal.New(two, b, config(), discard())
		create(t, one, "a-1")
		if err := errors.Join(first.Drain(t.Context()), second.Drain(t.Context())); err != nil {
			t.Fatal(err)
		}
		create(t, two, "a-2")
		if err := errors.Join(second.Drain(t.Context()), first.Drain(t.Context())); err != nil {
			t.Fatal(err)
		}
		if len(a.arrived()) != 2 || len(b.arrived()) != 0 {
			t.Fatal(a.arrived(), b.arrived())
		}
		create(t, two, "a-3")
		for end := time.Now().Add(30 * time.Second); len(b.arrived()) == 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if err := second.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.arrived(); len(got) != 1 {
			t.Fatal(got)
		}
	})
}
