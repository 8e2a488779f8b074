package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

// Every connection is taken while many want them, and some hold one and wait for another. Meanwhile nobody else gets
// one; afterwards all do.
func TestThePoolIsExhaustedThoughManyWait(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		const wait = 500 * time.Millisecond
		s := storetest.Open(t, target, store.Options{PoolWait: wait})
		working, stop := context.WithCancel(t.Context())
		var work sync.WaitGroup
		defer work.Wait()
		defer stop()
		nothing := func(*store.Tx) error { return nil }
		for range 30 {
			work.Go(func() {
				for working.Err() == nil {
					_ = s.View(working, "hold one", func(*store.Tx) error { return s.Update(working, "wait for another", nothing) })
				}
			})
		}
		time.Sleep(50 * time.Millisecond)
		for range 3 {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 10*wait)
			release, err := s.ExhaustPool(ctx)
			cancel()
			if err != nil {
				t.Fatalf("after %s: %v", time.Since(began), err)
			}
			if err := s.View(t.Context(), "none is free", nothing); err == nil {
				t.Error("a connection is free, though every one is taken")
			}
			release()
		}
		stop()
		work.Wait()
		if err := s.Update(t.Context(), "well", nothing); err != nil {
			t.Errorf("every connection was given back: %v", err)
		}
	})
}
