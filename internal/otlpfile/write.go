package otlpfile

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/record"
)

// Write gives records as OTLP/JSON lines, one record a line, in their order. Reading them gives the same
// records back, but for who stamped what: additions of a processor are left out.
func Write(records []*record.Record) ([]byte, error) {
	var out bytes.Buffer
	for _, r := range records {
		line, err := lineOf(r)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", record.Ref(r.Key()), err)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

func lineOf(r *record.Record) ([]byte, error) {
	if r.Signal == record.Span {
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		put(rs.Resource().Attributes(), r.Resource)
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(r.Scope)
		if err := putSpan(ss.Spans().AppendEmpty(), r); err != nil {
			return nil, err
		}
		return new(ptrace.JSONMarshaler).MarshalTraces(td)
	}
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	put(rl.Resource().Attributes(), r.Resource)
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName(r.Scope)
	if err := putLog(sl.LogRecords().AppendEmpty(), r); err != nil {
		return nil, err
	}
	return new(plog.JSONMarshaler).MarshalLogs(ld)
}

func putLog(lr plog.LogRecord, r *record.Record) error {
	lr.SetTimestamp(pcommon.Timestamp(r.Time))             //nolint:gosec // times before 1970 do not occur in OTLP
	lr.SetObservedTimestamp(pcommon.Timestamp(r.Observed)) //nolint:gosec // as above
	lr.SetSeverityNumber(plog.SeverityNumber(r.Severity))  //nolint:gosec // 0 to 24
	lr.SetSeverityText(r.SeverityText)
	lr.SetEventName(r.Name)
	if r.Body != "" {
		lr.Body().SetStr(r.Body)
	}
	put(lr.Attributes(), r.Attrs)
	var trace pcommon.TraceID
	var span pcommon.SpanID
	if err := putIDs(r, &trace, &span, nil); err != nil {
		return err
	}
	lr.SetTraceID(trace)
	lr.SetSpanID(span)
	return nil
}

func putSpan(sp ptrace.Span, r *record.Record) error {
	sp.SetStartTimestamp(pcommon.Timestamp(r.Time)) //nolint:gosec // as above
	sp.SetEndTimestamp(pcommon.Timestamp(r.End))    //nolint:gosec // as above
	sp.SetName(r.Name)
	for kind, name := range map[ptrace.SpanKind]string{
		ptrace.SpanKindInternal: "internal", ptrace.SpanKindServer: "server", ptrace.SpanKindClient: "client",
		ptrace.SpanKindProducer: "producer", ptrace.SpanKindConsumer: "consumer",
	} {
		if name == r.SpanKind {
			sp.SetKind(kind)
		}
	}
	switch r.Status {
	case "ok":
		sp.Status().SetCode(ptrace.StatusCodeOk)
	case "error":
		sp.Status().SetCode(ptrace.StatusCodeError)
	}
	sp.Status().SetMessage(r.StatusMessage)
	put(sp.Attributes(), r.Attrs)
	for _, e := range r.Events {
		to := sp.Events().AppendEmpty()
		to.SetTimestamp(pcommon.Timestamp(e.Time)) //nolint:gosec // as above
		to.SetName(e.Name)
		put(to.Attributes(), e.Attrs)
	}
	var trace pcommon.TraceID
	var span, parent pcommon.SpanID
	if err := putIDs(r, &trace, &span, &parent); err != nil {
		return err
	}
	sp.SetTraceID(trace)
	sp.SetSpanID(span)
	sp.SetParentSpanID(parent)
	return nil
}

func put(m pcommon.Map, attrs record.Attrs) {
	for _, a := range attrs {
		m.PutStr(a.Key, a.Value)
	}
}

func putIDs(r *record.Record, trace *pcommon.TraceID, span, parent *pcommon.SpanID) error {
	ids := []struct {
		to   []byte
		from string
	}{{trace[:], r.TraceID}, {span[:], r.SpanID}}
	if parent != nil {
		ids = append(ids, struct {
			to   []byte
			from string
		}{parent[:], r.ParentID})
	}
	for _, id := range ids {
		b, err := hex.DecodeString(id.from)
		if err != nil || len(b) != 0 && len(b) != len(id.to) {
			return fmt.Errorf("%q is no id of %d bytes in hex", id.from, len(id.to))
		}
		copy(id.to, b)
	}
	return nil
}
