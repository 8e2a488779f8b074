package main

import (
	"fmt"
	"os"
	"runtime"
	"text/tabwriter"

	"github.com/faultline-io/faultline/internal/identity"
)

// uuid is an identifier as platforms write them: 36 bytes, a string of its own.
func uuid(kind, i int) string { return fmt.Sprintf("%08x-fe1a-409b-b8cc-%012x", kind, i) }

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one finalized
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// memory says what 100,000 bindings cost in shapes that occur.
func memory() {
	const bindings = records * batches
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nheap of 100,000 bindings, identifiers of 36 bytes\tMB\tbytes a binding")
	for _, shape := range []struct {
		name string
		fill func(x *identity.Index)
	}{
		{"node → allocation, 10 intervals on each of 10,000 nodes", func(x *identity.Index) { assign(x, bindings/10, 10) }},
		{"node → allocation, 1 interval on each of 100,000 nodes", func(x *identity.Index) { assign(x, bindings, 1) }},
		{"task → workflow → allocation, 10 tasks a workflow", func(x *identity.Index) {
			for i := range bindings {
				w := identity.Key{Kind: identity.Workflow, ID: uuid(3, i/10)}
				x.AddSeen(identity.Keys{{Kind: identity.Task, ID: uuid(4, i)}, w})
				x.AddSeen(identity.Keys{w, {Kind: identity.Allocation, ID: uuid(2, i/10)}})
			}
		}},
		{"the same, each asked for once", func(x *identity.Index) {
			for i := range bindings {
				w := identity.Key{Kind: identity.Workflow, ID: uuid(3, i/10)}
				x.AddSeen(identity.Keys{{Kind: identity.Task, ID: uuid(4, i)}, w})
				x.AddSeen(identity.Keys{w, {Kind: identity.Allocation, ID: uuid(2, i/10)}})
			}
			for i := range bindings {
				x.Resolve(identity.Keys{{Kind: identity.Task, ID: uuid(4, i)}}, 1, 1)
			}
		}},
	} {
		before := heap()
		x := identity.New(identity.Options{MaxSubjects: 4 * bindings, Forget: true})
		shape.fill(x)
		grown := heap() - before
		runtime.KeepAlive(x)
		fmt.Fprintf(w, "%s\t%.1f\t%.0f\n", shape.name, float64(grown)/1e6, float64(grown)/bindings)
	}
	_ = w.Flush()
}

// assign gives each node so many allocations, one after the other, and asks for each node once.
func assign(x *identity.Index, nodes, each int) {
	for n := range nodes {
		node := identity.Key{Kind: identity.Node, ID: uuid(1, n)}
		for i := range each {
			a := identity.Key{Kind: identity.Allocation, ID: uuid(2, n*each+i)}
			_ = x.Add(identity.Link{Type: identity.Opened, Subject: node, Object: a, From: int64(100 * i)})
			_ = x.Add(identity.Link{Type: identity.Closed, Subject: node, Object: a, From: int64(100*i + 90)})
		}
		x.Resolve(identity.Keys{node}, 50, 50)
	}
}
