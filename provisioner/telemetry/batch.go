package telemetry

import (
	"fmt"

	"github.com/klauspost/compress/s2"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// batch is what is sent together: at most one request of each signal.
type batch struct {
	logs   plog.Logs
	traces ptrace.Traces
}

func newBatch() batch { return batch{plog.NewLogs(), ptrace.NewTraces()} }

// request is one OTLP request in protobuf.
type request struct {
	path    string // below the receiver's base URL
	body    []byte
	records int
}

// requests leaves out a signal without records.
func (b batch) requests() (out []request, err error) {
	if n := b.logs.LogRecordCount(); n > 0 {
		body, err := plogotlp.NewExportRequestFromLogs(b.logs).MarshalProto()
		if err != nil {
			return nil, fmt.Errorf("marshal logs: %w", err)
		}
		out = append(out, request{"/v1/logs", body, n})
	}
	if n := b.traces.SpanCount(); n > 0 {
		body, err := ptraceotlp.NewExportRequestFromTraces(b.traces).MarshalProto()
		if err != nil {
			return nil, fmt.Errorf("marshal spans: %w", err)
		}
		out = append(out, request{"/v1/traces", body, n})
	}
	return out, nil
}

// EncodedBatch is records in the form in which the database keeps them: one OTLP request of each signal in
// protobuf, compressed with S2. Empty: no records of that signal.
type EncodedBatch struct {
	Logs, Traces []byte
	Records      int
}

// maxRequest bounds what one request of an EncodedBatch is decompressed to, in bytes.
const maxRequest = 256 << 20

// Encode makes what Decode reads of records. Zero Records are left out.
func Encode(records []Record) (EncodedBatch, error) {
	b := encode(records)
	requests, err := b.requests()
	if err != nil {
		return EncodedBatch{}, err
	}
	e := EncodedBatch{Logs: []byte{}, Traces: []byte{}} // columns that are not null
	for _, r := range requests {
		e.Records += r.records
		if r.path == "/v1/logs" {
			e.Logs = s2.Encode(nil, r.body)
		} else {
			e.Traces = s2.Encode(nil, r.body)
		}
	}
	return e, nil
}

// Decode reads batches, in their order. Records of one resource come together, whichever batch they are from.
func Decode(batches ...EncodedBatch) (plog.Logs, ptrace.Traces, error) {
	m := merger{batch: newBatch(), logs: map[string]plog.LogRecordSlice{}, spans: map[string]ptrace.SpanSlice{}}
	for _, e := range batches {
		if err := m.add(e); err != nil {
			return m.batch.logs, m.batch.traces, err
		}
	}
	return m.batch.logs, m.batch.traces, nil
}

func unmarshal(compressed []byte, into func([]byte) error) error {
	n, err := s2.DecodedLen(compressed)
	if err != nil {
		return err
	}
	if n > maxRequest {
		return fmt.Errorf("a request of %d bytes is larger than %d", n, maxRequest)
	}
	body, err := s2.Decode(nil, compressed)
	if err != nil {
		return err
	}
	return into(body)
}

// merger puts requests together: a receiver does some work once for each resource of a request.
type merger struct {
	batch
	logs  map[string]plog.LogRecordSlice // by resource
	spans map[string]ptrace.SpanSlice
}

func (m *merger) add(e EncodedBatch) error {
	if len(e.Logs) > 0 {
		r := plogotlp.NewExportRequest()
		if err := unmarshal(e.Logs, r.UnmarshalProto); err != nil {
			return fmt.Errorf("decode logs: %w", err)
		}
		m.addLogs(r.Logs())
	}
	if len(e.Traces) > 0 {
		r := ptraceotlp.NewExportRequest()
		if err := unmarshal(e.Traces, r.UnmarshalProto); err != nil {
			return fmt.Errorf("decode spans: %w", err)
		}
		m.addSpans(r.Traces())
	}
	return nil
}

func (m *merger) addLogs(in plog.Logs) {
	for _, rl := range in.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			key := keyOf(rl.Resource())
			have, ok := m.logs[key]
			if !ok {
				one := m.batch.logs.ResourceLogs().AppendEmpty()
				rl.Resource().CopyTo(one.Resource())
				scope := one.ScopeLogs().AppendEmpty()
				sl.Scope().CopyTo(scope.Scope())
				have = scope.LogRecords()
				m.logs[key] = have
			}
			sl.LogRecords().MoveAndAppendTo(have)
		}
	}
}

func (m *merger) addSpans(in ptrace.Traces) {
	for _, rs := range in.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			key := keyOf(rs.Resource())
			have, ok := m.spans[key]
			if !ok {
				one := m.batch.traces.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(one.Resource())
				scope := one.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(scope.Scope())
				have = scope.Spans()
				m.spans[key] = have
			}
			ss.Spans().MoveAndAppendTo(have)
		}
	}
}

func keyOf(r pcommon.Resource) string { return fmt.Sprint(r.Attributes().AsRaw()) }
