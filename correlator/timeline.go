package correlator

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// compareEvents is the order of a timeline where causality says nothing: time, source, ref.
func compareEvents(a, b *Event) int {
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
// dispatched before its result. Contradictory causes (a cycle) fall back to time.
func order(events []*Event) []*Event {
	sorted := inTime(events)
	after, forward := causes(sorted)
	if forward {
		return sorted // time says what causality says
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
	return out
}

// inTime gives events in the order of compareEvents. What is compared most lies side by side: a million
// events are sorted in the time that their records take to be touched once.
func inTime(events []*Event) []*Event {
	type placed struct {
		at int64
		e  *Event
	}
	list := make([]placed, len(events))
	for i, e := range events {
		list[i] = placed{e.At, e}
	}
	slices.SortFunc(list, func(a, b placed) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return compareEvents(a.e, b.e)
	})
	out := make([]*Event, len(list))
	for i := range list {
		out[i] = list[i].e
	}
	return out
}

// causes lists, for every event, those that it must precede. forward says that time has all of them in
// order already; then the list is not whole.
func causes(sorted []*Event) (after [][]int, forward bool) {
	type span struct{ trace, id string }
	forward = true
	spans := map[span]int{}
	for i, e := range sorted {
		if e.Signal == record.Span && e.SpanID != "" {
			spans[span{e.TraceID, e.SpanID}] = i
		}
	}
	var edges [][2]int
	edge := func(from, to int) {
		edges, forward = append(edges, [2]int{from, to}), forward && from < to
	}
	steps := map[string][3][]int{}
	firsts := map[string]*first{}
	for i, e := range sorted {
		parent := e.ParentID
		if e.Signal == record.Log {
			parent = e.SpanID
		}
		if parent != "" && len(spans) > 0 {
			if p, ok := spans[span{e.TraceID, parent}]; ok && p != i {
				edge(p, i)
			}
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

// entry is an event as a line of the timeline.
func (e *Event) entry(via identity.Via) Entry {
	return Entry{
		Time: Time(e.Time), Observed: Time(e.Observed), Layer: e.Layer, Source: e.Service, Kind: e.kind(), Name: e.Name,
		Severity: severityName(e.Severity), Summary: e.Summary(), IDs: e.ids(), Via: string(via), Ref: e.Ref,
	}
}

var kindsByName = map[string]string{
	semconv.EventBinding: "binding", semconv.EventNodeAssigned: "binding", semconv.EventNodeUnassigned: "binding", semconv.EventNodeInstance: "state",
	semconv.EventAllocationState: "state", semconv.EventNodeOccupancy: "state", semconv.EventWorkflowState: "state",
	semconv.EventTaskState: "task", semconv.EventProviderState: "job", semconv.EventProviderPoll: "job",
	semconv.EventProjection: "projection", semconv.EventOutbox: "outbox", semconv.EventAudit: "audit",
	semconv.EventDeploy: "deploy", semconv.EventHeartbeat: "heartbeat",
}

func (e *Event) kind() string {
	if e.IsEvent() {
		if k, ok := kindsByName[e.Name]; ok {
			return k
		}
	}
	return e.Signal.String()
}

func severityName(n int) string {
	for _, s := range []struct {
		from int
		name string
	}{{21, "fatal"}, {17, "error"}, {13, "warn"}, {9, "info"}, {5, "debug"}, {1, "trace"}} {
		if n >= s.from {
			return s.name
		}
	}
	return ""
}

// Summary says in one line what the event is.
func (e *Event) Summary() string {
	a := e.Attr
	switch {
	case e.Signal == record.Span:
		return e.spanSummary()
	case !e.IsEvent() || !isLifecycle(e.Name):
		return firstLine(e.Body, e.Name)
	}
	switch e.Name {
	case semconv.EventBinding:
		return join(a(semconv.SubjectKind), a(semconv.SubjectID), "belongs to", a(semconv.ObjectKind), a(semconv.ObjectID))
	case semconv.EventNodeAssigned:
		return join("node", e.Own(identity.Node), "assigned to", e.Own(identity.Allocation))
	case semconv.EventNodeUnassigned:
		return join("node", e.Own(identity.Node), "no longer assigned to", e.Own(identity.Allocation))
	case semconv.EventTaskState:
		return join("task", e.Own(identity.Task), a(semconv.TaskType), e.To(), because(a(semconv.Reason)))
	case semconv.EventWorkflowState:
		return join("workflow", e.Own(identity.Workflow), a(semconv.Operation), e.To(), after("on", a(semconv.WaitingOn)), because(a(semconv.Reason)))
	case semconv.EventProviderState:
		return join(a(semconv.Provider), "job", a(semconv.Operation), e.To(), because(firstOf(a(semconv.ProviderExplanation), a(semconv.ProviderStatus))))
	case semconv.EventProviderPoll:
		return join("poll of", a(semconv.ProviderJob), after("ok", a(semconv.PollOK)), because(a(semconv.Error)))
	case semconv.EventProjection:
		return join(a(semconv.Projection), "shows", a(semconv.Field), a(semconv.Value))
	case semconv.EventOutbox:
		return join("outbox", e.Own(identity.Outbox), a(semconv.Subject), e.To(), because(a(semconv.LastError)))
	case semconv.EventAudit:
		return join(a(semconv.ActorType), a(semconv.Actor), a(semconv.Action), because(a(semconv.Reason)))
	case semconv.EventDeploy:
		return join("deploy of", a(semconv.Component), firstOf(a(semconv.Version), a(semconv.Config)), because(a(semconv.Reason)))
	case semconv.EventHeartbeat:
		return join(a(semconv.Component), "is alive")
	}
	return join(strings.TrimSuffix(e.Name, ".state"), arrow(a(semconv.From), e.To()), because(a(semconv.Reason)))
}

func (e *Event) spanSummary() string {
	took := ""
	if e.End > e.Time {
		took = time.Duration(e.End - e.Time).Round(10 * time.Microsecond).String()
	}
	status := ""
	if e.HTTP.Status != 0 {
		status = fmt.Sprint(e.HTTP.Status)
	}
	return join(e.Name, status, took, because(firstLine(e.StatusMessage, "")))
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func after(word, s string) string {
	if s == "" {
		return ""
	}
	return word + " " + s
}

func because(s string) string {
	if s == "" {
		return ""
	}
	return "(" + firstLine(s, "") + ")"
}

func arrow(from, to string) string {
	if from == "" {
		return to
	}
	return from + " → " + to
}

func firstOf(all ...string) string { return cmp.Or(all...) }

// firstLine is the first line of a text, at most 240 bytes of it, or a substitute for an empty one.
func firstLine(text, substitute string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	if line == "" {
		return substitute
	}
	if len(line) > 240 {
		cut := 240
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut] + "…"
	}
	return line
}
