package correlator

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// CompareEvents is the order of a timeline where causality says nothing: time, source, ref.
func CompareEvents(a, b *Event) int {
	if c := cmp.Compare(a.At, b.At); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Service, b.Service); c != 0 {
		return c
	}
	return cmp.Compare(a.Key, b.Key)
}

// order puts events into causal order, then time, source and ref. Causes come first even where clocks
// say otherwise: a span before its children and the lines written in it, a task queued before it is
// dispatched before its result. Contradictory causes (a cycle) fall back to time. parents are the spans whose
// parent is there too.
func order(events []*Event) (ordered []*Event, parents []parentLink) {
	sorted := inTime(events)
	parents, lines := parentLinks(sorted)
	after, forward := causes(sorted, parents, lines)
	if forward {
		return sorted, parents // time says what causality says
	}
	waiting := make([]int, len(sorted))
	for _, effects := range after {
		for _, j := range effects {
			waiting[j]++
		}
	}
	ready := &places{}
	for i := range sorted {
		if waiting[i] == 0 {
			heap.Push(ready, i)
		}
	}
	out, done, next := make([]*Event, 0, len(sorted)), make([]bool, len(sorted)), 0
	for len(out) < len(sorted) {
		if ready.Len() == 0 { // a cycle: take the earliest of what is left
			for done[next] {
				next++
			}
			heap.Push(ready, next)
		}
		i := heap.Pop(ready).(int)
		if done[i] {
			continue
		}
		done[i] = true
		out = append(out, sorted[i])
		for _, j := range after[i] {
			if waiting[j]--; waiting[j] == 0 && !done[j] {
				heap.Push(ready, j)
			}
		}
	}
	return out, parents
}

// inTime gives events in the order of CompareEvents. What is compared most, the time, is packed with the event's
// position into one word: words are sorted several times faster than events, which would each have to be touched.
func inTime(events []*Event) []*Event {
	out := make([]*Event, len(events))
	if len(events) == 0 {
		return out
	}
	first, last := events[0].At, events[0].At
	for _, e := range events {
		first, last = min(first, e.At), max(last, e.At)
	}
	position := bits.Len(uint(len(events)))
	coarse := max(0, bits.Len64(uint64(last-first))+position-64) //nolint:gosec // not negative; a span of 292 years and more wraps and is sorted below
	packed := make([]uint64, len(events))
	for i, e := range events {
		packed[i] = uint64(e.At-first)>>coarse<<position | uint64(i) //nolint:gosec // see above
	}
	slices.Sort(packed)
	for i, w := range packed {
		out[i] = events[w&(1<<position-1)]
	}
	// Those of one moment, or of one that is too coarse, in their full order.
	for i := 0; i < len(packed); {
		k := i + 1
		for k < len(packed) && packed[k]>>position == packed[i]>>position {
			k++
		}
		if k > i+1 {
			slices.SortFunc(out[i:k], CompareEvents)
		}
		i = k
	}
	return out
}

// parentLink is a span, or a line that was written in one, and the span that it is part of.
type parentLink struct{ parent, child *Event }

// parentLinks finds the spans and lines whose parent is among the events.
func parentLinks(sorted []*Event) (spans, lines []parentLink) {
	n := 0
	var in []*Event // spans, and what was written in one
	for i, e := range sorted {
		e.place = i
		if e.SpanID == "" && e.ParentID == "" {
			continue
		}
		if in = append(in, e); e.Signal == record.Span && e.SpanID != "" {
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	// By the span's id alone, which hardly any other trace has too; those that do are looked up in full.
	byID, others := make(map[string]*Event, n), map[[2]string]*Event{}
	for _, e := range in {
		if e.Signal != record.Span || e.SpanID == "" {
			continue
		}
		if known := byID[e.SpanID]; known != nil && known.TraceID != e.TraceID {
			others[[2]string{e.TraceID, e.SpanID}] = e
			continue
		}
		byID[e.SpanID] = e
	}
	of := func(trace, id string) *Event {
		if p := byID[id]; p == nil || p.TraceID == trace {
			return p
		}
		return others[[2]string{trace, id}]
	}
	for _, e := range in {
		switch {
		case e.Signal == record.Span && e.ParentID != "":
			if p := of(e.TraceID, e.ParentID); p != nil && p != e {
				spans = append(spans, parentLink{p, e})
			}
		case e.Signal != record.Span && e.SpanID != "":
			if p := of(e.TraceID, e.SpanID); p != nil {
				lines = append(lines, parentLink{p, e})
			}
		}
	}
	return spans, lines
}

// causes lists, for every event, those that it must precede. forward says that time has all of them in
// order already; then the list is not whole.
func causes(sorted []*Event, parents ...[]parentLink) (after [][]int, forward bool) {
	forward = true
	var edges [][2]int
	edge := func(from, to int) {
		edges, forward = append(edges, [2]int{from, to}), forward && from < to
	}
	for _, list := range parents {
		for _, f := range list {
			edge(f.parent.place, f.child.place)
		}
	}
	steps := map[string][3][]int{}
	firsts := map[string]*first{}
	for i, e := range sorted {
		if !e.IsEvent() {
			continue
		}
		if subject, begins := begun(e); subject != "" {
			f := firsts[subject]
			if f == nil {
				f = &first{}
				firsts[subject] = f
			}
			f.add(i, begins)
		}
		if rank, subject := step(e); subject != "" {
			s := steps[subject]
			s[rank] = append(s[rank], i)
			steps[subject] = s
		}
	}
	for _, s := range steps {
		for rank := range 2 {
			for _, i := range s[rank] {
				for _, later := range s[rank+1:] {
					for _, k := range later {
						edge(i, k)
					}
				}
			}
		}
	}
	for _, f := range firsts {
		if f.begins == 1 {
			for _, i := range f.rest {
				edge(f.at, i)
			}
		}
	}
	if forward {
		return nil, true
	}
	after = make([][]int, len(sorted))
	for _, e := range edges {
		after[e[0]] = append(after[e[0]], e[1])
	}
	return after, false
}

// first is the one record by which something began, and the records of what became of it. Where two tell of a
// beginning, nobody can say which of them the rest came after.
type first struct {
	begins, at int
	rest       []int
}

func (f *first) add(i int, begins bool) {
	if !begins {
		f.rest = append(f.rest, i)
		return
	}
	f.begins, f.at = f.begins+1, i
}

// begun gives the task, outbox record or job that an event is about, and whether it is its beginning.
func begun(e *Event) (subject string, begins bool) {
	if !e.IsEvent() {
		return "", false
	}
	switch e.Name {
	case semconv.EventTaskState:
		if id := e.Own(identity.Task); id != "" {
			return "task " + id, e.To() == semconv.Queued
		}
	case semconv.EventOutbox:
		if id := e.Own(identity.Outbox); id != "" {
			return "outbox " + id, e.To() == semconv.Pending
		}
	case semconv.EventProviderState:
		if id := e.Own(identity.ProviderJob); id != "" {
			return "job " + id, strings.EqualFold(e.To(), "pending")
		}
	}
	return "", false
}

// step gives the rank of a task's event within one claim: taken, running, over.
func step(e *Event) (rank int, subject string) {
	if !e.Is(semconv.EventTaskState) {
		return 0, ""
	}
	claim := e.Own(identity.Claim)
	if claim == "" {
		return 0, ""
	}
	switch e.To() {
	case semconv.Dispatched:
		rank = 0
	case semconv.Running:
		rank = 1
	case semconv.Succeeded, semconv.Failed, semconv.Canceled, semconv.Lost:
		rank = 2
	default:
		return 0, ""
	}
	return rank, e.Own(identity.Task) + "/" + claim
}

// places is a heap of positions in the sorted order.
type places []int

func (h places) Len() int           { return len(h) }
func (h places) Less(i, j int) bool { return h[i] < h[j] }
func (h places) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *places) Push(x any) { *h = append(*h, x.(int)) }

// Pop implements heap.Interface.
func (h *places) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
