package telemetry

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/semconv"
)

// scopeName is the instrumentation scope of every record.
const scopeName = "github.com/faultline-io/faultline/provisioner/telemetry"

type logRecord struct {
	time, observed time.Time
	severity       plog.SeverityNumber
	name, body     string // an event has a name, and its body is made of what it says
	span           SpanContext
	attrs          attributes
}

type spanRecord struct {
	name               string
	kind               ptrace.SpanKind
	self, parent, link SpanContext
	start, end         time.Time
	failed             bool
	message            string
	attrs              attributes
}

// Record is one log record, event or span on its way. The zero Record is none.
type Record struct { // exactly one of log and span is set
	emitter *Emitter
	log     *logRecord
	span    *spanRecord
}

// IsSet reports whether there is a record.
func (r Record) IsSet() bool { return r.emitter != nil }

// Emit gives the record to its exporter, which may lose it.
func (r Record) Emit() {
	if r.IsSet() {
		r.emitter.exporter.take(r)
	}
}

// encode groups records by emitter, in the order in which they came. Zero Records are left out.
func encode(records []Record) batch {
	b := newBatch()
	logs, spans := map[*Emitter]plog.ScopeLogs{}, map[*Emitter]ptrace.ScopeSpans{}
	for _, e := range records {
		if !e.IsSet() {
			continue
		}
		if e.log != nil {
			scope, ok := logs[e.emitter]
			if !ok {
				rl := b.logs.ResourceLogs().AppendEmpty()
				e.emitter.describe(rl.Resource())
				scope = rl.ScopeLogs().AppendEmpty()
				scope.Scope().SetName(scopeName)
				logs[e.emitter] = scope
			}
			e.log.encode(scope.LogRecords().AppendEmpty())
			continue
		}
		scope, ok := spans[e.emitter]
		if !ok {
			rs := b.traces.ResourceSpans().AppendEmpty()
			e.emitter.describe(rs.Resource())
			scope = rs.ScopeSpans().AppendEmpty()
			scope.Scope().SetName(scopeName)
			spans[e.emitter] = scope
		}
		e.span.encode(scope.Spans().AppendEmpty())
	}
	return b
}

func (s *Emitter) describe(r pcommon.Resource) {
	r.Attributes().PutStr(semconv.ServiceName, s.service)
	for _, a := range s.resource {
		put(r.Attributes(), a)
	}
}

func (l *logRecord) encode(r plog.LogRecord) {
	r.SetTimestamp(pcommon.NewTimestampFromTime(l.time))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(l.observed))
	r.SetSeverityNumber(l.severity)
	r.SetSeverityText(l.severity.String())
	r.SetEventName(l.name)
	if l.name != "" {
		r.Body().SetStr(sentence(l.name, l.attrs.own))
	} else {
		r.Body().SetStr(l.body)
	}
	r.SetTraceID(l.span.Trace)
	r.SetSpanID(l.span.Span)
	putAll(r.Attributes(), &l.attrs)
}

func (p *spanRecord) encode(r ptrace.Span) {
	r.SetName(p.name)
	r.SetKind(p.kind)
	r.SetTraceID(p.self.Trace)
	r.SetSpanID(p.self.Span)
	r.SetParentSpanID(p.parent.Span)
	r.TraceState().FromRaw(p.self.State)
	r.SetStartTimestamp(pcommon.NewTimestampFromTime(p.start))
	r.SetEndTimestamp(pcommon.NewTimestampFromTime(p.end))
	if p.failed {
		r.Status().SetCode(ptrace.StatusCodeError)
		r.Status().SetMessage(p.message)
	}
	if p.link.Valid() {
		l := r.Links().AppendEmpty()
		l.SetTraceID(p.link.Trace)
		l.SetSpanID(p.link.Span)
	}
	putAll(r.Attributes(), &p.attrs)
}

func putAll(m pcommon.Map, attrs *attributes) {
	m.EnsureCapacity(m.Len() + len(attrs.ids) + len(attrs.own) + 1)
	attrs.each(func(a slog.Attr) { put(m, a) })
}

func put(m pcommon.Map, a slog.Attr) {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindInt64:
		m.PutInt(a.Key, v.Int64())
	case slog.KindUint64:
		m.PutInt(a.Key, int64(v.Uint64()))
	case slog.KindBool:
		m.PutBool(a.Key, v.Bool())
	case slog.KindFloat64:
		m.PutDouble(a.Key, v.Float64())
	default:
		m.PutStr(a.Key, textOf(v))
	}
}

func textOf(v slog.Value) string {
	if v.Kind() == slog.KindTime {
		return v.Time().UTC().Format(time.RFC3339Nano)
	}
	return v.String()
}
