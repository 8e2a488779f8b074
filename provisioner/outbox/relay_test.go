package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bus refuses a subject so many times, and notes what it took.
type bus struct {
	mu      sync.Mutex
	refuse  map[string]int
	arrived []string
}

func (b *bus) Publish(_ context.Context, m store.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse[m.Subject] > 0 {
		b.refuse[m.Subject]--
		return errors.New("bus is away")
	}
	b.arrived = append(b.arrived, m.AllocationID+"/"+m.Subject)
	return nil
}

func (b *bus) got() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.arrived, " ")
}

// relay puts messages into an outbox and runs a relay until nothing waits any more.
func relay(t *testing.T, target string, b *bus, put ...string) *store.Store {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := storetest.Open(t, target, store.Options{})
	for _, m := range put {
		allocation, subject, _ := strings.Cut(m, "/")
		if err := s.Update(ctx, "put", func(t *store.Tx) error { _, err := t.PutOutbox(subject, allocation, "{}"); return err }); err != nil {
			t.Fatal(err)
		}
	}
	c := outbox.Config{Poll: 5 * time.Millisecond, Batch: 2, FirstWait: 10 * time.Millisecond, LongestWait: 20 * time.Millisecond, Attempts: 3, Lease: time.Minute}
	done := make(chan error, 1)
	go func() { done <- outbox.New(s, b, c, nil, slog.New(slog.DiscardHandler)).Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		waiting := 1
		if err := s.View(ctx, "backlog", func(t *store.Tx) (err error) { waiting, _, err = t.OutboxBacklog(); return err }); err != nil {
			t.Fatal(err)
		}
		if waiting == 0 {
			return s
		}
	}
	t.Fatal("the outbox was never empty")
	return nil
}

func TestOrderIsKeptPerAllocation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := &bus{refuse: map[string]int{"first": 2}}
		relay(t, target, b, "a-1/first", "a-1/second", "a-2/other", "a-1/third")
		if got := b.got(); got != "a-2/other a-1/first a-1/second a-1/third" {
			t.Fatal(got)
		}
	})
}

func TestAPoisonMessageDiesAndLetsOthersPass(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := &bus{refuse: map[string]int{"poison": 1 << 20}}
		s := relay(t, target, b, "a-1/poison", "a-1/next")
		if got := b.got(); got != "a-1/next" {
			t.Fatal(got)
		}
		// The dead letter says how often it was tried, and what stood against it.
		if err := s.View(t.Context(), "dead letters", func(tx *store.Tx) error {
			dead, err := tx.UnsentMessages(time.Now(), 10)
			if len(dead) != 1 || dead[0].State != semconv.Dead || dead[0].Attempts != 3 || dead[0].LastError != "bus is away" || dead[0].Subject != "poison" {
				t.Errorf("%+v", dead)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}
