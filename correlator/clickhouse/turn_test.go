package clickhouse

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// However many ask at once, no more statements run than there are connections, each of them gets its turn, and whoever goes away while
// waiting holds none.
func TestTurns(t *testing.T) {
	all := newTurns(4 + spareConnections)
	var running, most, done atomic.Int64
	var asking sync.WaitGroup
	for range 200 {
		asking.Go(func() {
			release, err := all.take(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			for now := running.Add(1); ; {
				before := most.Load()
				if now <= before || most.CompareAndSwap(before, now) {
					break
				}
			}
			time.Sleep(time.Millisecond)
			running.Add(-1)
			done.Add(1)
		})
	}
	asking.Wait()
	if most.Load() > 4 || done.Load() != 200 {
		t.Errorf("%d at once, %d done", most.Load(), done.Load())
	}
	var held []func()
	for range 4 {
		release, err := all.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, release)
	}
	gone := errors.New("the client went away")
	ctx, leave := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { leave(gone) })
	if _, err := all.take(ctx); !errors.Is(err, gone) {
		t.Error(err)
	}
	for _, release := range held {
		release()
		release() // a second Close gives nothing back
	}
	if len(all) != 0 {
		t.Errorf("%d turns are held", len(all))
	}
}
