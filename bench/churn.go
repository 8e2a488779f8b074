package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
)

// A simulated day: so many allocations, at a bound that holds a sixteenth of the identifiers that they
// name.
const (
	churned    = 1_000_000
	churnBound = 500_000
)

// churn puts a day's allocations on so many nodes through a bounded index and prints its heap on the way. Each allocation
// reimages its node and has a workflow, three tasks with a request each, and some records that ask.
func churn(nodes int) {
	x := identity.New(identity.Options{MaxSubjects: churnBound, Forget: true})
	fmt.Printf("\nallocations on %d nodes, at a bound of %d\n%11s  %7s  %8s  %9s  %13s  known of what came last\n", nodes, churnBound, "allocations", "heap MB", "subjects", "forgotten", "links trimmed")
	before := heap()
	day := int64(24 * time.Hour)
	for i := range churned {
		at := day * int64(i) / churned
		if i%(churned/10) == 0 && i > 0 {
			printChurn(x, i, before)
		}
		allocate(x, i, nodes, at)
	}
	printChurn(x, churned, before)
	runtime.KeepAlive(x)
}

func printChurn(x *identity.Index, until int, before uint64) {
	s, known := x.Stats(), 0
	const asked = 1000
	for i := until - asked; i < until; i++ {
		if r := x.Resolve(identity.Keys{{Kind: identity.Task, ID: uuid(4, 3*i)}}, 1, 1); r.Allocation == uuid(2, i) {
			known++
		}
	}
	fmt.Printf("%11d  %7.1f  %8d  %9d  %13d  %d of %d\n", until, float64(heap()-before)/1e6, s.Subjects, s.Evicted, s.Trimmed, known, asked)
}

// allocate is one allocation's telemetry: assigned, installed, worked on, let go.
func allocate(x *identity.Index, i, nodes int, at int64) {
	node := identity.Key{Kind: identity.Node, ID: uuid(1, i%nodes)}
	a := identity.Key{Kind: identity.Allocation, ID: uuid(2, i)}
	instance := identity.Key{Kind: identity.NodeInstance, ID: uuid(5, i)}
	flow := identity.Key{Kind: identity.Workflow, ID: uuid(3, i)}
	held := int64(24*time.Hour) / churned * int64(nodes)
	for _, f := range []identity.Link{
		{Type: identity.Opened, Subject: node, Object: a, From: at},
		{Type: identity.Opened, Subject: node, Object: instance, From: at},
		{Type: identity.Closed, Subject: node, Object: instance, From: at + held - 2},
		{Type: identity.Closed, Subject: node, Object: a, From: at + held - 1},
	} {
		_ = x.AddFrom("provisioner", f)
	}
	x.AddSeenFrom("provisioner", identity.Keys{flow, a}, nil)
	for t := range 3 {
		task := identity.Key{Kind: identity.Task, ID: uuid(4, 3*i+t)}
		request := identity.Key{Kind: identity.Request, ID: uuid(6, 3*i+t)}
		x.AddSeenFrom("provisioner", identity.Keys{task, flow}, nil)
		x.AddSeenFrom("api", identity.Keys{request, flow}, nil)
		x.Resolve(identity.Keys{task}, at, at)
	}
	x.Resolve(identity.Keys{node}, at+1, at+1)
	x.Resolve(identity.Keys{instance}, at+1, at+1)
}
