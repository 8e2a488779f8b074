package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Emitter makes the records of one part, under its service.name and resource. A nil Emitter makes none, so that
// code under test needs no Exporter.
type Emitter struct {
	exporter *Exporter
	service  string
	resource []slog.Attr
}

// Emitter makes an emitter whose records go out through e.
func (e *Exporter) Emitter(service string, resource ...slog.Attr) *Emitter {
	return &Emitter{exporter: e, service: service, resource: resource}
}

// Service is the emitter's service.name.
func (s *Emitter) Service() string { return s.service }

// Severities of log records, as OTLP numbers them.
const (
	Debug = plog.SeverityNumberDebug
	Info  = plog.SeverityNumberInfo
	Warn  = plog.SeverityNumberWarn
	Error = plog.SeverityNumberError
)

// Log emits one log record. Identifiers and span come from ctx, before attrs; a key of attrs wins.
func (s *Emitter) Log(ctx context.Context, severity plog.SeverityNumber, body string, attrs ...slog.Attr) {
	if s == nil {
		return
	}
	now := s.exporter.now()
	s.exporter.take(Record{emitter: s, log: &logRecord{
		time: now, observed: now, severity: severity, body: body, span: SpanOf(ctx), attrs: attributes{ids: idsOf(ctx), own: attrs},
	}})
}

// Event emits one lifecycle event that happens now, under an event_id of its own.
func (s *Emitter) Event(ctx context.Context, name string, attrs ...slog.Attr) {
	s.ComposeEvent(ctx, time.Time{}, name, attrs...).Emit()
}

// ComposeEvent makes a lifecycle event without emitting it, under an event_id of its own: for those who
// keep it until it has arrived. The zero time is now. A nil Emitter makes the zero Record.
func (s *Emitter) ComposeEvent(ctx context.Context, at time.Time, name string, attrs ...slog.Attr) Record {
	if s == nil {
		return Record{}
	}
	now := s.exporter.now()
	if at.IsZero() {
		at = now
	}
	return Record{emitter: s, log: &logRecord{
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
