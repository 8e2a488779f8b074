package correlator

import (
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/localized"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// NewEvent is an event of a record, of which nothing is worked out yet but its keys. key is the record's.
func NewEvent(r *record.Record, key string, p *profile.Profile) *Event {
	e := &Event{Record: r, event: r.IsEvent(), Key: key, Ref: record.Ref(key)}
	e.Keys = p.Keys(r)
	return e
}

// NewUnresolvedEvent is an event of a record that is shown by itself: whose it is, is not worked out. key is what of the record's
// key a reader places it by.
func NewUnresolvedEvent(r *record.Record, key string, p *profile.Profile) *Event {
	ref := record.Ref(r.Key()) // of what was said: before a profile reads another severity in it
	r.Severity = p.Severity(r.Service, r.Body, r.Severity)
	e := &Event{
		Record: r, event: r.IsEvent(), Key: key, Ref: ref, At: r.Time, HTTP: exchangeOf(r), Layer: firstOf(p.Layer(r.Service, r.Scope, r.Attr), layerByEvent(r)),
	}
	e.failed = e.saysFailed()
	return e
}

// Resolve works out whose the event is, its layer, its words and its place in time. now bounds what anybody can have seen.
func (e *Event) Resolve(x *identity.Index, p *profile.Profile, now int64) {
	e.kinds = kindsOf(e.Keys)
	e.Resolution = x.Resolve(e.Keys, e.Time, e.Observed)
	e.read(p)
	e.At = e.placedAt(now)
	e.fails = e.TellsOfFailure()
	e.party = partyOf(e, p)
}

// read works out what the record says by itself: its layer, its words.
func (e *Event) read(p *profile.Profile) {
	e.Layer = firstOf(p.Layer(e.Service, e.Scope, e.Record.Attr), layerByEvent(e.Record))
	if e.Layer == "" && worksOnTask(e) && LayerOfName(p, e.Service) == "" {
		e.Layer = semconv.LayerNodeAgent
	}
	if e.Is(semconv.EventHeartbeat) {
		e.beats = p.Layer(e.Attr(semconv.Component), "", func(string) string { return "" })
	}
	e.Text = textOf(e.Record)
	e.Severity = p.Severity(e.Service, e.Body, e.Severity)
	if e.Severity < severityError && !e.IsEvent() && e.Signal == record.Log {
		e.Severity = max(e.Severity, record.LineLevel(e.Body)) // as it is decoded, too: rows that were stored before that was, are read the same
	}
	e.translate()
	e.HTTP = exchangeOf(e.Record)
	e.failed = e.saysFailed()
	e.ends = saysEnd(e)
}

// layerByEvent is whose event a record is where neither its emitter nor the catalog says it: only a workflow engine tells of a workflow's states, and only
// who publishes tells that something was published or was not.
func layerByEvent(r *record.Record) string {
	if !r.IsEvent() {
		return callerByLine(r)
	}
	switch to, _ := r.Attrs.Get(semconv.To); {
	case r.Name == semconv.EventWorkflowState:
		return semconv.LayerWorkflow
	case r.Name == semconv.EventOutbox && to != semconv.Pending:
		return semconv.LayerOutbox
	}
	return ""
}

// askedInVain finds that somebody tells what he asked the platform for and how he was answered, in the form of a caller: "release al-7: 401 Unauthorized".
var askedInVain = regexp.MustCompile(`^(?:(?:GET|POST|PUT|PATCH|DELETE) /\S+|[a-z]+ [\w-]+): [45]\d\d [A-Z]`)

// callerByLine is the client where a program of which nobody says whose it is tells of a call of its own that the platform refused.
func callerByLine(r *record.Record) string {
	if r.Signal == record.Log && r.Severity >= severityWarn && askedInVain.MatchString(r.Body) {
		return semconv.LayerClient
	}
	return ""
}

// worksOnTask says whether a program tells of a task on the machine that it runs on: whoever it is by name, it does the agent's work.
func worksOnTask(e *Event) bool {
	return !e.IsEvent() && e.Signal == record.Log && e.Own(identity.Task) != "" && e.Own(identity.NodeInstance) != ""
}

// translate adds to the words of a record what they mean, where they are a message in another language than English, or a code that stands for one.
func (e *Event) translate() {
	if e.Severity < severityWarn && isASCII(e.Text) {
		return
	}
	for _, means := range [...]string{localized.English(e.Text), bySQLState(e.Text)} {
		if means != "" {
			e.Text += "\n" + means
		}
	}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// ResolveAgain works out anew whose the event is, and with it its place in time, and says whether either is another now:
// links that came since may say otherwise.
func (e *Event) ResolveAgain(x *identity.Index, now int64) (moved bool) {
	whose, at := e.whose(), e.At
	e.Resolution = x.Resolve(e.Keys, e.Time, e.Observed)
	e.At = e.placedAt(now)
	return e.At != at || e.whose() != whose
}

// implausible is how far a stamped time may lie after the time at which the record was seen; nobody
// sees a record before it happens, and clocks of servers do not differ by days.
const implausible = int64(24 * time.Hour)

// placedAt is the time at which an event is put: as stamped, unless the node instance did not exist then,
// or it lies in a future that nobody can have seen, or before 1970, which no record can say (OTLP's times have no sign) and from where windows would reach beyond
// what a time can hold.
func (e *Event) placedAt(now int64) int64 {
	if e.Time < 0 {
		return max(0, min(e.Observed, now))
	}
	if e.BeforeInstance || e.Time > e.Observed && e.Time-e.Observed > implausible || e.Time > now && e.Time-now > implausible {
		return max(0, min(e.Observed, now))
	}
	return e.Time
}

// IDs are the identifiers of an event: its own, the first of each kind, and those that it resolves to.
func (e *Event) IDs() map[string]string {
	ids := map[string]string{}
	for _, k := range e.Keys {
		if _, ok := ids[k.Kind.Attribute()]; !ok {
			ids[k.Kind.Attribute()] = k.ID
		}
	}
	for key, id := range map[string]string{
		semconv.AllocationID: e.Allocation, semconv.WorkflowID: e.Workflow, semconv.NodeID: e.Node, semconv.NodeInstanceID: e.NodeInstance,
	} {
		if id != "" && ids[key] == "" {
			ids[key] = id
		}
	}
	return ids
}
