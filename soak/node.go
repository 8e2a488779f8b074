package soak

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// claims is what a node says to the provisioner: through Go, or over HTTP.
type claims interface {
	// wait claims a task; false where there was none for a while.
	wait(ctx context.Context) (store.Task, bool, error)
	// done reports success. again: the answer is not known, and it is sent once more.
	done(ctx context.Context, k store.Task, observed string) (again bool, err error)
}

// Work counts what nodes were given to do.
type Work struct {
	mu      sync.Mutex
	times   map[string]int // task and fence → how often it was begun
	Renewed int            // certificates
	Begun   int
	Twice   int // a claim that was given out twice
}

func (w *Work) begin(k store.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.times == nil {
		w.times = map[string]int{}
	}
	w.Begun++
	key := k.ID + "/" + k.Claim.ID
	if w.times[key]++; w.times[key] > 1 {
		w.Twice++
	}
}

// runNode does all it is asked, at once, until ctx ends.
func runNode(ctx context.Context, c claims, w *Work) {
	for ctx.Err() == nil {
		k, ok, err := c.wait(ctx)
		if err != nil {
			pause(ctx, 10*time.Millisecond)
			continue
		}
		if !ok {
			continue
		}
		w.begin(k)
		observed := map[string]string{workflow.TaskProvision: workflow.ObservedRunning, workflow.TaskWipe: workflow.ObservedAbsent}[k.Type]
		for ctx.Err() == nil {
			if again, _ := c.done(ctx, k, observed); !again {
				break
			}
			pause(ctx, 10*time.Millisecond)
		}
	}
}

// pause waits for about d.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d/2 + rand.N(d)):
	}
}
