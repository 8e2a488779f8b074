package storebench

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Batch is what arrives together: records of many allocations, grouped by who emitted them, as a
// gateway passes them on.
type Batch struct {
	At    time.Time // of the arrival of the last
	Logs  plog.Logs
	Spans ptrace.Traces

	rows   int
	scopes map[string]plog.LogRecordSlice
	traces map[string]ptrace.SpanSlice
}

func newBatch() *Batch {
	return &Batch{
		Logs: plog.NewLogs(), Spans: ptrace.NewTraces(),
		scopes: map[string]plog.LogRecordSlice{}, traces: map[string]ptrace.SpanSlice{},
	}
}

// Rows counts log records and spans.
func (b *Batch) Rows() int { return b.rows }

func (b *Batch) log(e emitter, at int64) plog.LogRecord {
	key := e.service + "/" + e.instance
	records, ok := b.scopes[key]
	if !ok {
		rl := b.Logs.ResourceLogs().AppendEmpty()
		e.describe(rl.Resource().Attributes())
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName(e.scope)
		records = sl.LogRecords()
		b.scopes[key] = records
	}
	b.rows++
	lr := records.AppendEmpty()
	lr.SetTimestamp(pcommon.Timestamp(at)) //nolint:gosec // after 1970
	return lr
}

func (b *Batch) span(e emitter, at int64) ptrace.Span {
	key := e.service + "/" + e.instance
	spans, ok := b.traces[key]
	if !ok {
		rs := b.Spans.ResourceSpans().AppendEmpty()
		e.describe(rs.Resource().Attributes())
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(e.scope)
		spans = ss.Spans()
		b.traces[key] = spans
	}
	b.rows++
	sp := spans.AppendEmpty()
	sp.SetStartTimestamp(pcommon.Timestamp(at)) //nolint:gosec // after 1970
	return sp
}

// emitter is a process that gives off records: its resource.
type emitter struct {
	service, scope, version string
	instance                string // pod, or node
	node                    bool
}

func (e emitter) describe(m pcommon.Map) {
	m.EnsureCapacity(7)
	m.PutStr("service.name", e.service)
	m.PutStr("service.version", e.version)
	m.PutStr("deployment.environment.name", "prod")
	m.PutStr("host.name", e.instance)
	if e.node {
		m.PutStr("node_id", e.instance)
		m.PutStr("os.type", "linux")
		m.PutStr("os.version", "9.4")
		return
	}
	m.PutStr("k8s.pod.name", e.instance)
	m.PutStr("k8s.namespace.name", "control-plane")
	m.PutStr("telemetry.sdk.language", "go")
}
