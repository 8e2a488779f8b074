package correlator

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/accesslog"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Severity numbers of OTLP from which a record is a warning, an error, or a program's end.
const (
	severityWarn  = 13
	severityError = 17
	severityFatal = 21
)

// Event is a record with what was worked out about it: whose it is, in which layer, what it says.
type Event struct {
	*record.Record
	identity.Resolution

	Key, Ref string
	Layer    string
	// At places the event in time: as stamped, unless the stamp cannot be true.
	At int64
	// Text is all that the record says in words, in lower case: body, messages, errors, reasons.
	Text string
	// HTTP is the request that the record tells of, zero for most.
	HTTP Exchange

	beats    string // of a heartbeat: the layer of the component that is alive
	derived  bool   // worked out of another record: it counts in no statistics
	party    string // see Party
	event    bool   // see IsEvent
	failed   bool   // see Failed; worked out once, as rules ask again and again
	fails    bool   // see TellsOfFailure; the same
	ends     bool   // see saysEnd
	inferred bool   // of its layer: see placeStrangers
	place    int    // in the order that is being made
	kinds    uint32 // see kindsOf; 0 where that is not worked out
	memo     any    // what the rules read out of the words, kept so that each record is read once
}

// IsEvent says whether this is a lifecycle event: a log record with a name. It is kept beside the record, which is far away in memory: rules ask it of every
// record of a case.
func (e *Event) IsEvent() bool { return e.event }

// Memo gives what read finds in the event, which is asked only once: rules are many, and each of them
// wants to know. Judging one allocation is one goroutine's work.
func (e *Event) Memo(read func(*Event) any) any {
	if e.memo == nil {
		e.memo = read(e)
	}
	return e.memo
}

// Attr gives an attribute of the record or its resource, "" where there is none.
func (e *Event) Attr(key string) string { return e.Record.Attr(key) }

// To is the state that a lifecycle event leads to.
func (e *Event) To() string { return e.Attr(semconv.To) }

// Is says whether this is the lifecycle event of that name.
func (e *Event) Is(name string) bool { return e.IsEvent() && e.Name == name }

// Own gives the identifier of a kind that the record carries by itself.
func (e *Event) Own(k identity.Kind) string {
	if e.kinds != 0 && e.kinds&(1<<k) == 0 {
		return ""
	}
	return e.Keys.First(k)
}

// kindsOf is a bit for each kind of identifier among a record's keys, and one more: rules ask every record for many, most of which it has not, and the keys are
// far away in memory.
func kindsOf(keys identity.Keys) uint32 {
	kinds := uint32(1) << 31
	for i := range keys {
		kinds |= 1 << keys[i].Kind
	}
	return kinds
}

// longestSpan is how long a span may last. What claims more has a broken end, and windows around it would reach beyond what a
// number of nanoseconds can say (the year 2262).
const longestSpan = int64(30 * 24 * time.Hour)

// EndAt is when the event was over: a span's end, else its own time.
func (e *Event) EndAt() int64 {
	if e.Signal == record.Span && e.End > e.At && e.End-longestSpan <= e.At {
		return e.End
	}
	return e.At
}

// Failed says whether the record tells of a failure by its form: an error status, a severity of warning
// or worse, an HTTP or gRPC status that refuses.
func (e *Event) Failed() bool { return e.failed }

func (e *Event) saysFailed() bool {
	if e.IsEvent() && isLifecycle(e.Name) {
		return false // what states mean is worked out from their sequence
	}
	return e.Severity >= severityWarn || e.Status == "error" || e.HTTP.Refused() || e.GRPCFailed()
}

// GRPCFailed says whether a gRPC status other than OK is stated.
func (e *Event) GRPCFailed() bool {
	code := e.Attr(semconv.RPCGRPCStatus)
	return code != "" && code != "0" && !strings.EqualFold(code, "ok")
}

// lifecycle holds the names that the contract defines; other names are plain log records.
var lifecycle = func() map[string]bool {
	out := map[string]bool{}
	for _, n := range semconv.EventNames() {
		out[n] = true
	}
	return out
}()

func isLifecycle(name string) bool { return lifecycle[name] }

// Moves says whether the event tells that something came to another state: no sign of life, poll, look or act of a user does.
func (e *Event) Moves() bool {
	switch e.Name {
	case semconv.EventHeartbeat, semconv.EventProviderPoll, semconv.EventProjection, semconv.EventAudit, semconv.EventDeploy:
		return false
	}
	return e.IsEvent() && isLifecycle(e.Name)
}

// textAttributes hold words about what went wrong.
var textAttributes = []string{
	semconv.ExceptionMessage, semconv.ExceptionType, semconv.ErrorType, semconv.TLSError, semconv.Error, "error.message", "err",
	semconv.LastError, semconv.Reason, semconv.ProviderExplanation, "message", "msg", "exception.stacktrace",
}

// maxText bounds what rules read of one record.
const maxText = 16 << 10

func textOf(r *record.Record) string {
	var b strings.Builder
	add := func(s string) {
		if s == "" || b.Len() > maxText {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.ToLower(s[:min(len(s), maxText)]))
	}
	add(r.Body)
	add(r.StatusMessage)
	for _, k := range textAttributes {
		v, _ := r.Attrs.Get(k)
		add(v)
	}
	for _, e := range r.Events {
		for _, k := range textAttributes {
			v, _ := e.Attrs.Get(k)
			add(v)
		}
	}
	return b.String()
}

// Exchange is an HTTP request as one party saw it.
type Exchange struct {
	Method, Path string
	Status       int           // 0: none was seen
	Upstream     string        // the back end that a proxy chose, "" where none was reached
	Proxied      bool          // the record says something of a back end: it is a proxy's
	Flags        string        // Envoy's response flags, or what another proxy's words amount to
	Took         time.Duration // as an access line says, 0 where none does
}

// Refused says whether the answer was an error, or a connection found no back end that it could have gone to.
func (x Exchange) Refused() bool {
	return x.Status >= 400 || x.Status == 0 && x.Proxied && x.Upstream == "" && strings.Contains(x.Flags, "UH")
}

func exchangeOf(r *record.Record) Exchange {
	x := Exchange{Method: r.Attr(semconv.HTTPRequestMethod), Path: r.Attr(semconv.URLPath), Flags: r.Attr(semconv.ProxyFlags)}
	for _, k := range []string{semconv.HTTPStatusCode, semconv.HTTPStatusLegacy} {
		text := r.Attr(k)
		if text == "" {
			continue // the error of an empty number would cost memory for every record
		}
		if n, err := strconv.Atoi(text); err == nil {
			x.Status = n
			break
		}
	}
	if x.Path == "" {
		x.Path = r.Attr(semconv.HTTPRoute)
	}
	if v, ok := r.Attrs.Get(semconv.UpstreamAddress); ok {
		x.Proxied = true
		if v != "-" {
			x.Upstream = v
		}
	}
	if x.Flags == "-" || len(x.Flags) == 4 && strings.HasSuffix(x.Flags, "--") {
		x.Flags = "" // HAProxy's state of a session: its line tells the same, and is read
	}
	if x.Status == 0 && x.Method == "" && r.Signal == record.Log {
		line := fromLine(r.Body, x)
		if !line.Proxied && x.Proxied { // the attribute says what the line does not
			line.Upstream, line.Proxied = x.Upstream, true
		}
		line.Flags = firstOf(line.Flags, x.Flags)
		return line
	}
	if x.Proxied && x.Method == "" && x.Took == 0 && r.Signal == record.Log { // what was asked for, and how long it took
		if l, ok := accesslog.Parse(r.Body); ok && (l.Status == x.Status || x.Status == 0) {
			x.Method, x.Took = l.Method, l.Duration
			if x.Path == "" {
				x.Path = l.Path
			}
		}
	}
	if x.Status < 400 && x.Method == "" && !x.Proxied && r.Signal == record.Log { // what was asked for: a call that failed before may be the same
		if l, ok := accesslog.ParsePlain(r.Body); ok && l.Status == x.Status {
			x.Method, x.Path = l.Method, firstOf(x.Path, l.Path)
		}
	}
	if x.Status >= 400 && !x.Proxied && x.Flags == "" && r.Signal == record.Log { // what the line says of the back end, beside the attributes
		line := fromLine(r.Body, Exchange{})
		if line.Proxied {
			x.Upstream, x.Flags, x.Proxied = line.Upstream, line.Flags, true
		}
		if x.Method == "" && line.Status == x.Status {
			x.Method, x.Took = line.Method, line.Took
			x.Path = firstOf(x.Path, line.Path)
		}
	}
	return x
}

// fromLine reads a proxy's access line, or the line in which it says why it had no answer.
func fromLine(line string, x Exchange) Exchange {
	if l, ok := accesslog.Parse(line); ok {
		return Exchange{Method: l.Method, Path: l.Path, Status: l.Status, Upstream: l.Upstream, Proxied: l.UpstreamKnown, Flags: l.Flags, Took: l.Duration}
	}
	if l, ok := accesslog.ParsePlain(line); ok {
		return Exchange{Method: l.Method, Path: l.Path, Status: l.Status}
	}
	if l, ok := accesslog.ParseError(line); ok {
		x.Method, x.Path, x.Flags, x.Proxied = l.Method, l.Path, l.Flags, l.Flags != ""
		if l.Cause != accesslog.NoUpstream { // there it is the name of the group that is empty
			x.Upstream = l.Upstream
		}
	}
	return x
}

// TellsOfFailure says whether a record tells of a failure: by itself, or by the state that it reports.
func (e *Event) TellsOfFailure() bool {
	if e.Failed() {
		return true
	}
	if !e.IsEvent() {
		return false
	}
	switch e.Name {
	case semconv.EventTaskState:
		return e.To() == semconv.Failed || e.To() == semconv.Rejected || e.To() == semconv.Lost
	case semconv.EventProviderState, semconv.EventWorkflowState, semconv.EventAllocationState, semconv.EventOutbox:
		return e.Attr(semconv.LastError) != "" || e.Attr(semconv.ProviderExplanation) != "" || e.To() == "Failed" || e.To() == semconv.Failed || e.To() == semconv.ReleaseFailed
	case semconv.EventProviderPoll:
		return e.Attr(semconv.Error) != ""
	}
	return false
}

// Significant says whether a record is a lifecycle event or tells of a failure: the likelier reason for a change.
func (e *Event) Significant() bool { return e.IsEvent() && isLifecycle(e.Name) || e.TellsOfFailure() }

// maxRefs bounds the lists of records in an answer; the first ones prove it.
const maxRefs = 50

func refs(events []*Event) []string {
	out := make([]string, 0, min(len(events), maxRefs))
	for _, e := range events {
		if len(out) == maxRefs {
			break
		}
		if !slices.Contains(out, e.Ref) {
			out = append(out, e.Ref)
		}
	}
	return out
}

func distinct(events ...*Event) []*Event {
	var out []*Event
	for _, e := range events {
		if e != nil && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// inLayer says whether a record proves that a layer's telemetry is alive: it is the layer's own, or a
// heartbeat of one of its components.
func (e *Event) inLayer(layer string) bool {
	return layer != "" && (e.Layer == layer || e.beats == layer)
}
