package outbox_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

// What was published long ago is deleted; what was not, or is dead, or was published of late, stays.
func TestPublishedMessagesAreForgotten(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		var days atomic.Int64
		start := time.Now()
		s := storetest.Open(t, target, store.Options{Now: func() time.Time { return start.Add(time.Duration(days.Load()) * 24 * time.Hour) }})
		put := func(n int, state string) (id string) {
			t.Helper()
			if err := s.Update(t.Context(), "put", func(tx *store.Tx) (err error) {
				for range n {
					if id, err = tx.PutOutbox("subject", "a-1", "{}"); err != nil {
						return err
					}
					m, err := tx.Message(id)
					if err != nil {
						return err
					}
					m.Attempts = 1
					if state != semconv.Pending {
						if err := tx.MoveMessage(&m, state); err != nil {
							return err
						}
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return id
		}
		dead, waits := put(1, semconv.Dead), put(1, semconv.Pending)
		gone := put(300, semconv.Published)
		failed := put(1, semconv.Failed)
		gone2 := put(1, semconv.Published)
		days.Store(13)
		young := put(200, semconv.Published)
		late := waits // written long ago, published of late
		days.Store(15)
		if err := s.Update(t.Context(), "publish", func(tx *store.Tx) error {
			m, err := tx.Message(late)
			if err != nil {
				return err
			}
			return tx.MoveMessage(&m, semconv.Published)
		}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- outbox.New(s, nil, outbox.DefaultConfig(), nil, slog.New(slog.DiscardHandler)).Forget(ctx)
		}()
		there := func(id string) (yes bool) {
			t.Helper()
			if err := s.View(t.Context(), "look", func(tx *store.Tx) error {
				_, err := tx.Message(id)
				if yes = err == nil; store.IsNotFound(err) {
					return nil
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return yes
		}
		for end := time.Now().Add(30 * time.Second); there(gone2) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if there(gone) || there(gone2) {
			t.Error("old published messages are there still")
		}
		for what, id := range map[string]string{"dead": dead, "failed": failed, "published of late": late, "young": young} {
			if !there(id) {
				t.Errorf("the %s message was deleted", what)
			}
		}
	})
}
