package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Source is one part that speaks: a service.name with its resource. A nil Source says nothing, so that
// code under test needs no emitter.
type Source struct {
	emitter  *Emitter
	service  string
	resource []slog.Attr
}

// Source makes a part that speaks through e.
func (e *Emitter) Source(service string, resource ...slog.Attr) *Source {
	return &Source{emitter: e, service: service, resource: resource}
}

// Service is the source's service.name.
func (s *Source) Service() string { return s.service }

// Severities of log records, as OTLP numbers them.
const (
	Debug = plog.SeverityNumberDebug
	Info  = plog.SeverityNumberInfo
	Warn  = plog.SeverityNumberWarn
	Error = plog.SeverityNumberError
)

// Log says one line. Identifiers and span come from ctx, before attrs; a key of attrs wins.
func (s *Source) Log(ctx context.Context, severity plog.SeverityNumber, body string, attrs ...slog.Attr) {
	if s == nil {
		return
	}
	now := s.emitter.now()
	s.emitter.take(Record{source: s, log: &logRecord{
		time: now, observed: now, severity: severity, body: body, span: SpanOf(ctx), attrs: attributes{ids: idsOf(ctx), said: attrs},
	}})
}

// Event says one lifecycle event that happens now, under an event_id of its own.
func (s *Source) Event(ctx context.Context, name string, attrs ...slog.Attr) {
	s.EventAt(ctx, time.Time{}, name, attrs...)
}

// EventAt says a lifecycle event that happened at the given time; the zero time is now.
func (s *Source) EventAt(ctx context.Context, at time.Time, name string, attrs ...slog.Attr) {
	if s != nil {
		s.emitter.take(s.ComposeEvent(ctx, at, name, attrs...))
	}
}

// ComposeEvent makes a lifecycle event without saying it, under an event_id of its own: for those who
// keep it until it has arrived. The zero time is now. A nil Source makes the zero Record.
func (s *Source) ComposeEvent(ctx context.Context, at time.Time, name string, attrs ...slog.Attr) Record {
	if s == nil {
		return Record{}
	}
	now := s.emitter.now()
	if at.IsZero() {
		at = now
	}
	return Record{source: s, log: &logRecord{
		time: at, observed: now, severity: Info, name: name, span: SpanOf(ctx),
		attrs: attributes{idsOf(ctx), attrs, NewID("ev")},
	}}
}

// sentence is what a reader of plain logs sees of an event.
func sentence(name string, attrs []slog.Attr) string {
	var from, to, reason string
	for _, a := range attrs {
		switch a.Key {
		case semconv.From:
			from = textOf(a.Value)
		case semconv.To, semconv.Action, semconv.Component, semconv.Value:
			to = textOf(a.Value)
		case semconv.Reason:
			reason = textOf(a.Value)
		}
	}
	if from != "" {
		name += " " + from + " ->"
	}
	if to != "" {
		name += " " + to
	}
	if reason != "" {
		name += ": " + reason
	}
	return name
}
