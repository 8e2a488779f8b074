package lokiexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func pushOf(labels ...string) (p push) {
	for _, one := range labels {
		p = append(p, part{stream: &stream{labels: one}})
	}
	return p
}

// One push of a stream is under way at a time, however many streams pushes share, and nobody waits for ever.
func TestTurns(t *testing.T) {
	turns := newTurns()
	var under [5]atomic.Int32
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 500 {
				a, b := (n+i)%5, (n*i)%5
				done, err := turns.take(t.Context(), pushOf(fmt.Sprint(a), fmt.Sprint(b)))
				if err != nil {
					t.Error(err)
					return
				}
				if under[a].Add(1) != 1 || a != b && under[b].Add(1) != 1 {
					t.Error("two at once")
				}
				under[a].Store(0)
				under[b].Store(0)
				done()
			}
		})
	}
	all.Wait()
}

// Who gives up waiting leaves nothing behind.
func TestTurnsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns()
		done, err := turns.take(t.Context(), pushOf("a"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		if _, err := turns.take(ctx, pushOf("b", "a")); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		done()
		done, err = turns.take(t.Context(), pushOf("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		done()
	})
}
