package correlator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Passage is the first time that calls of a kind got through for an allocation.
type Passage struct {
	Call string
	At   Time // when it was begun
}

// FailedCall is a kind of call that failed, from the first time to the last.
type FailedCall struct {
	Call  string `json:"call"`
	First Time   `json:"first"`
	Last  Time   `json:"last"`
}

// maxCalls bounds the kinds of calls that are told of one allocation.
const maxCalls = 16

// callOf is what kind of call a record tells of, and who tells: a caller sees all of the way, whoever answers its own part. "" where it
// tells of none.
func callOf(e *Event) string {
	if e.HTTP.Method == "" || e.HTTP.Path == "" {
		return ""
	}
	who := "answered by " + e.Service
	if e.SpanKind == "client" || e.Layer == semconv.LayerClient {
		who = "asked by " + e.Service
	}
	return e.HTTP.Method + " " + route(e.HTTP.Path) + " " + who
}

// route is a path with its identifiers left out, as far as can be told: what holds a digit is one, unless it is as short as a version.
func route(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if len(p) > 3 && strings.ContainsAny(p, "0123456789") {
			parts[i] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}

// passages are the calls of the allocation that got through, each kind once.
func (c *Case) passages() []Passage {
	first := map[string]int64{}
	for _, e := range c.Events {
		if e.HTTP.Status < 200 || e.HTTP.Status >= 400 || e.Status == "error" {
			continue
		}
		call := callOf(e)
		if at, known := first[call]; call != "" && (!known || e.At < at) {
			first[call] = e.At
		}
	}
	var out []Passage
	for call, at := range first {
		out = append(out, Passage{call, Time(at)})
	}
	slices.SortFunc(out, func(a, b Passage) int { return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Call, b.Call)) })
	return out[:min(len(out), maxCalls)]
}

// failedCalls are the kinds of calls that failed among some records, in order of their names.
func failedCalls(events []*Event) []FailedCall {
	by := map[string]*FailedCall{}
	for _, e := range events {
		call := callOf(e)
		if call == "" || !e.HTTP.Refused() && e.Status != "error" {
			continue
		}
		f := by[call]
		if f == nil {
			f = &FailedCall{call, Time(e.At), Time(e.At)}
			by[call] = f
		}
		f.First, f.Last = min(f.First, Time(e.At)), max(f.Last, Time(e.At))
	}
	var out []FailedCall
	for _, f := range by {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b FailedCall) int { return strings.Compare(a.Call, b.Call) })
	return out[:min(len(out), maxCalls)]
}
