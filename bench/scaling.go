package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
)

// scaling measures look-ups by 1, 2 and 8 goroutines beside one that writes a thousand links a second.
func scaling(length time.Duration) {
	x := identity.New(identity.Options{})
	keys := make([]identity.Keys, records*batches)
	for i := range keys {
		keys[i] = identity.Keys{{Kind: identity.Task, ID: fmt.Sprintf("t-%06d", i)}}
		x.AddSeen(identity.Keys{keys[i][0], {Kind: identity.Allocation, ID: fmt.Sprintf("a-%06d", i/10)}})
	}
	fmt.Println("\nlook-ups beside a writer  ns each  a second")
	for _, readers := range []int{1, 2, 8} {
		var count atomic.Int64
		var stop atomic.Bool
		var group sync.WaitGroup
		for r := range readers {
			group.Go(func() {
				n := 0
				for ; !stop.Load(); n++ {
					x.Resolve(keys[(n*7919+r*104729)%len(keys)], 1, 1)
				}
				count.Add(int64(n))
			})
		}
		group.Go(func() {
			for n := 0; !stop.Load(); n++ {
				x.AddSeen(identity.Keys{{Kind: identity.Request, ID: fmt.Sprintf("%d-%d", readers, n)}, keys[n%len(keys)][0]})
				time.Sleep(time.Millisecond)
			}
		})
		time.Sleep(3 * length)
		stop.Store(true)
		group.Wait()
		rate := float64(count.Load()) / (3 * length).Seconds()
		fmt.Printf("%d goroutines              %.0f      %.2fM\n", readers, 1e9/rate*float64(readers), rate/1e6)
	}
}
