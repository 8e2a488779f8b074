package correlator

import (
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// FullEvent is a record as it was sent, with whose it is: one line of a reading.
type FullEvent struct {
	Time       Time              `json:"time"`
	End        *Time             `json:"end_time,omitempty"` // of a span
	Observed   Time              `json:"observed_time"`
	Ingested   Time              `json:"ingested_time"`
	Signal     string            `json:"signal"` // log or span
	Layer      string            `json:"layer"`
	Source     string            `json:"source"`
	Scope      string            `json:"scope,omitempty"`
	Name       string            `json:"name,omitempty"`
	Severity   string            `json:"severity"`
	Body       string            `json:"body,omitempty"`
	TraceID    string            `json:"trace_id,omitempty"`
	SpanID     string            `json:"span_id,omitempty"`
	ParentID   string            `json:"parent_span_id,omitempty"`
	SpanKind   string            `json:"span_kind,omitempty"`
	Status     string            `json:"status,omitempty"`
	StatusText string            `json:"status_message,omitempty"`
	SpanEvents []FullSpanEvent   `json:"span_events,omitempty"`
	Attributes map[string]string `json:"attributes"`
	Resource   map[string]string `json:"resource"`
	IDs        map[string]string `json:"ids"`
	Via        string            `json:"via"`
	Ref        string            `json:"ref"`
	Summary    string            `json:"summary"`
}

// FullSpanEvent is an event on a span.
type FullSpanEvent struct {
	Time       Time              `json:"time"`
	Name       string            `json:"name"`
	Attributes map[string]string `json:"attributes"`
}

// Full is the event with all that its record says.
func (e *Event) Full() FullEvent {
	out := FullEvent{
		Time: Time(e.Time), Observed: Time(e.Observed), Ingested: Time(e.Ingested), Signal: e.Signal.String(), Layer: e.Layer,
		Source: e.Service, Scope: e.Scope, Name: e.Name, Severity: severityName(e.Severity), Body: e.Body,
		TraceID: e.TraceID, SpanID: e.SpanID, ParentID: e.ParentID, SpanKind: e.SpanKind, Status: e.Status, StatusText: e.StatusMessage,
		Attributes: e.Attrs.Map(), Resource: e.Resource.Map(), IDs: e.ids(), Via: string(e.Via), Ref: e.Ref, Summary: e.Summary(),
	}
	if e.Signal == record.Span {
		end := Time(e.End)
		out.End = &end
	}
	for _, s := range e.Events {
		out.SpanEvents = append(out.SpanEvents, FullSpanEvent{Time(s.Time), s.Name, s.Attrs.Map()})
	}
	return out
}

// NewEvent is an event of a record that stands by itself, resolved to nothing yet. key is what of the record's key the library
// places it by.
func NewEvent(r *record.Record, key string, p *profile.Profile) *Event {
	ref := record.Ref(r.Key()) // of what was said: before a profile reads another severity in it
	r.Severity = p.Severity(r.Service, r.Body, r.Severity)
	return &Event{
		Record: r, Key: key, Ref: ref, At: r.Time, HTTP: exchangeOf(r), Layer: p.Layer(r.Service, r.Scope, r.Attr),
	}
}

// ids are the identifiers of an event: its own, the first of each kind, and those that it resolves to.
func (e *Event) ids() map[string]string {
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
