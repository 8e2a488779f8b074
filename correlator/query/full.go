package query

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
)

// FullEvent is a record as it was sent, with whose it is: one line of a reading.
type FullEvent struct {
	Time       correlator.Time   `json:"time"`
	End        *correlator.Time  `json:"end_time,omitempty"` // of a span
	Observed   correlator.Time   `json:"observed_time"`
	Ingested   correlator.Time   `json:"ingested_time"`
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
	Time       correlator.Time   `json:"time"`
	Name       string            `json:"name"`
	Attributes map[string]string `json:"attributes"`
}

// Full is the event with all that its record says.
func Full(e *correlator.Event) FullEvent {
	out := FullEvent{
		Time: correlator.Time(e.Time), Observed: correlator.Time(e.Observed), Ingested: correlator.Time(e.Ingested), Signal: e.Signal.String(), Layer: e.Layer,
		Source: e.Service, Scope: e.Scope, Name: e.Name, Severity: correlator.SeverityName(e.Severity), Body: e.Body,
		TraceID: e.TraceID, SpanID: e.SpanID, ParentID: e.ParentID, SpanKind: e.SpanKind, Status: e.Status, StatusText: e.StatusMessage,
		Attributes: e.Attrs.Map(), Resource: e.Resource.Map(), IDs: e.IDs(), Via: string(e.Via), Ref: e.Ref, Summary: e.Summary(),
	}
	if e.Signal == record.Span {
		end := correlator.Time(e.End)
		out.End = &end
	}
	for _, s := range e.Events {
		out.SpanEvents = append(out.SpanEvents, FullSpanEvent{correlator.Time(s.Time), s.Name, s.Attrs.Map()})
	}
	return out
}
