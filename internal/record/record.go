package record

import (
	"github.com/faultline-io/faultline/internal/identity"
)

// Signal is what kind of OTLP record it was.
type Signal uint8

// The signals that are read; metrics are not records.
const (
	Log Signal = iota + 1
	Span
)

// String is "log" or "span".
func (s Signal) String() string {
	if s == Span {
		return "span"
	}
	return "log"
}

// Record is one log record or span. Times are Unix nanoseconds, 0 where unknown; identifiers are
// lower-case hex or the emitter's text, "" where there are none. Attrs and Resource hold what the
// emitter said; what the identity processor added is in Stamped alone.
type Record struct {
	Signal   Signal
	Time     int64 // what the emitter says: a log's time, a span's start; Observed where it says nothing
	End      int64 // a span's end
	Observed int64 // when the first collector saw it
	Ingested int64 // when the store took it

	Service      string // service.name
	Scope        string // instrumentation scope
	Name         string // a log's event name, a span's name
	Severity     int    // OTLP severity number; for a span with error status 17
	SeverityText string
	Body         string

	TraceID, SpanID, ParentID string
	SpanKind                  string // "server", "client", …, "" for a log
	Status                    string // a span's status: "ok", "error", ""
	StatusMessage             string
	Events                    []SpanEvent

	Resource Attrs
	Attrs    Attrs
	Stamped  Attrs // identifiers added on the way, by the processor

	// Keys are the identifiers that the record carries by itself, as the active profile reads them.
	Keys identity.Keys
}

// SpanEvent is an event on a span, such as an exception.
type SpanEvent struct {
	Time  int64  `json:"time"`
	Name  string `json:"name"`
	Attrs Attrs  `json:"attrs,omitempty"`
}

// Attr gives an attribute of the record, else of its resource, else "".
func (r *Record) Attr(key string) string {
	if v, ok := r.Attrs.Get(key); ok {
		return v
	}
	v, _ := r.Resource.Get(key)
	return v
}

// IsEvent says whether this is a lifecycle event: a log record with a name.
func (r *Record) IsEvent() bool { return r.Signal == Log && r.Name != "" }
