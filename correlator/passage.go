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

// callOf is what kind of call a record tells of, and who tells: a caller sees all of the way, whoever answers its own part. A task that a
// node is given and a job that a provider is given are calls, too. "" where it tells of none, or not yet how it ended.
func callOf(e *Event) (call string, end callEnd) {
	switch {
	case e.Is(semconv.EventTaskState):
		return named(taskCall, e.Attr(semconv.TaskType), "on", nodeOf(e)), endOf(e.To(), semconv.Succeeded, semconv.Failed, semconv.Rejected, semconv.Lost, semconv.Expired)
	case e.Is(semconv.EventProviderState):
		return named("job", e.Attr(semconv.Operation), "of", providerOf(e)), endOf(e.To(), "Succeeded", "Failed")
	case e.Layer == semconv.LayerAPIAuth && accessSubject(e) != "":
		return named(accessCall, accessSubject(e), "decided by", e.Service), decisionOf(e)
	case e.HTTP.Method == "" || e.HTTP.Path == "":
		return "", unended
	}
	who := "answered by"
	if e.SpanKind == "client" || e.Layer == semconv.LayerClient {
		who = "asked by"
	}
	call = named(e.HTTP.Method+" "+route(e.HTTP.Path), who, e.Service)
	switch {
	case e.HTTP.Refused() || e.Status == "error":
		return call, failed
	case e.HTTP.Status >= 200:
		return call, gotThrough
	}
	return call, unended
}

// callEnd is how a call ended.
type callEnd int

const (
	unended callEnd = iota
	gotThrough
	failed
)

func endOf(state, good string, bad ...string) callEnd {
	switch {
	case state == good:
		return gotThrough
	case slices.Contains(bad, state):
		return failed
	}
	return unended
}

// named joins the words of a call's name; "" where one of them is not known.
func named(words ...string) string {
	if slices.Contains(words, "") {
		return ""
	}
	return strings.Join(words, " ")
}

// taskCall begins the name of a call that one node alone answers.
const taskCall = "task"

// OfOneNode says whether a call is one that one node alone answers.
func OfOneNode(call string) bool { return strings.HasPrefix(call, taskCall+" ") }

// accessCall begins the name of a call that asks what one subject may do.
const accessCall = "access of"

// OfOneSubject says whether a call is one that is decided for one subject alone: that others may proves nothing of it.
func OfOneSubject(call string) bool { return strings.HasPrefix(call, accessCall+" ") }

// subjectKeys are the attributes that name whose access is decided (OpenTelemetry's enduser.id and user.*; OPA's, Envoy's and Kubernetes' audit logs).
var subjectKeys = []string{"auth.subject", "enduser.id", "user.id", "user.name", "subject", "principal", "user.username"}

func accessSubject(e *Event) string {
	for _, key := range subjectKeys {
		if v := e.Attr(key); v != "" {
			return v
		}
	}
	return ""
}

// decisionOf is how an authority decided, by its own record.
func decisionOf(e *Event) callEnd {
	switch allowed := strings.ToLower(e.Attr("auth.allowed") + e.Attr("allowed") + e.Attr("decision")); {
	case strings.HasPrefix(allowed, "false") || strings.HasPrefix(allowed, "den") || strings.HasPrefix(allowed, "forbid") || e.HTTP.Refused() || e.fails:
		return failed
	case strings.HasPrefix(allowed, "true") || strings.HasPrefix(allowed, "allow") || e.HTTP.Status >= 200:
		return gotThrough
	}
	return unended
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
		call, end := callOf(e)
		if call == "" || end != gotThrough {
			continue
		}
		if at, known := first[call]; !known || e.At < at {
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
		call, end := callOf(e)
		if call == "" || end != failed {
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
