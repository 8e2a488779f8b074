package otlp

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/record"
)

// Each rule for what cannot be kept as it was said, with what comes out and what is counted.
func TestSanitized(t *testing.T) {
	const last = int64(9223372036854775807) // 2262-04-11T23:47:16.854775807Z
	plain := func(text string) func(*record.Record) any {
		return func(r *record.Record) any { return r.Body == text }
	}
	attrs := func(r *record.Record) any { return r.Attrs }
	cases := []struct {
		name string
		say  func(plog.LogRecord)
		get  func(*record.Record) any
		want any
		told Decoder
	}{
		{"last moment", func(l plog.LogRecord) { l.SetTimestamp(math.MaxInt64) }, func(r *record.Record) any { return r.Time }, last, Decoder{}},
		{"one nanosecond later", func(l plog.LogRecord) { l.SetTimestamp(math.MaxInt64 + 1) }, func(r *record.Record) any { return r.Time }, last, Decoder{Times: 1}},
		{"both times", func(l plog.LogRecord) { l.SetTimestamp(math.MaxUint64); l.SetObservedTimestamp(math.MaxUint64) },
			func(r *record.Record) any { return []int64{r.Time, r.Observed} }, []int64{last, last}, Decoder{Times: 2}},
		{"1895, as a negative number", func(l plog.LogRecord) { l.SetTimestamp(1<<64 - 75*365*86400*1e9) }, func(r *record.Record) any { return r.Time }, last, Decoder{Times: 1}},
		{"no time", func(l plog.LogRecord) { l.SetObservedTimestamp(5) }, func(r *record.Record) any { return []int64{r.Time, r.Observed} }, []int64{5, 5}, Decoder{}},
		{"NUL", func(l plog.LogRecord) { l.Body().SetStr("a\x00b") }, plain("a\x00b"), true, Decoder{}},
		{"U+FFFD that somebody wrote", func(l plog.LogRecord) { l.Body().SetStr("a\uFFFD") }, plain("a\uFFFD"), true, Decoder{}},
		{"body", func(l plog.LogRecord) { l.Body().SetStr("a\xff\xfeb\xc3") }, plain("a\uFFFDb\uFFFD"), true, Decoder{Texts: 1}},
		{"key and value", func(l plog.LogRecord) { l.Attributes().PutStr("k\xff", "v\x80") }, attrs, record.Attrs{{Key: "k\uFFFD", Value: "v\uFFFD"}}, Decoder{Texts: 2}},
		{"keys that become one: the first stays", func(l plog.LogRecord) { l.Attributes().PutStr("k\xff", "1"); l.Attributes().PutStr("k\xfe", "2") },
			attrs, record.Attrs{{Key: "k\uFFFD", Value: "1"}}, Decoder{Texts: 2}},
		{"a key among the stamps", func(l plog.LogRecord) {
			l.Attributes().PutStr("identity_stamped", "k\xff")
			l.Attributes().PutStr("k\xff", "v")
		},
			func(r *record.Record) any { return r.Stamped }, record.Attrs{{Key: "k\uFFFD", Value: "v"}}, Decoder{Texts: 1}},
		{"in a list", func(l plog.LogRecord) { _ = l.Attributes().FromRaw(map[string]any{"l": []any{"a\xff", int64(1)}}) },
			attrs, record.Attrs{{Key: "l", Value: `["a\ufffd",1]`}}, Decoder{Texts: 1}},
		{"in a map", func(l plog.LogRecord) { _ = l.Body().FromRaw(map[string]any{"k\xff": map[string]any{"in": "\xff"}}) },
			plain(`{"k\ufffd":{"in":"\ufffd"}}`), true, Decoder{Texts: 2}},
		{"a number that JSON lacks", func(l plog.LogRecord) { l.Attributes().PutDouble("n", math.NaN()) }, attrs, record.Attrs{{Key: "n", Value: "NaN"}}, Decoder{}},
		{"such numbers in a map", func(l plog.LogRecord) {
			_ = l.Attributes().FromRaw(map[string]any{"m": map[string]any{"a": math.NaN(), "b": []any{math.Inf(1), math.Inf(-1), 1.5}, "c": "<kept>"}})
		}, attrs, record.Attrs{{Key: "m", Value: `{"a":"NaN","b":["+Inf","-Inf",1.5],"c":"<kept>"}`}}, Decoder{Numbers: 3}},
		{"bytes", func(l plog.LogRecord) { l.Body().SetEmptyBytes().FromRaw([]byte{0xff, 0}) }, plain("/wA="), true, Decoder{}},
		{"empty identifiers", func(l plog.LogRecord) { l.SetTraceID(pcommon.TraceID{}); l.Attributes().PutStr("task_id", "") },
			func(r *record.Record) any { return []any{r.TraceID, r.SpanID, r.Attrs} }, []any{"", "", record.Attrs{{Key: "task_id"}}}, Decoder{}},
		{"severity that nobody knows", func(l plog.LogRecord) { l.SetSeverityNumber(-2_000_000_000) }, func(r *record.Record) any { return r.Severity }, -2_000_000_000, Decoder{}},
	}
	for _, c := range cases {
		ld := plog.NewLogs()
		lr := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		c.say(lr)
		before, _ := (&plog.JSONMarshaler{}).MarshalLogs(ld)
		var d Decoder
		d.Logs(ld, func(r *record.Record) bool {
			if diff := cmp.Diff(c.want, c.get(r)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
			return true
		})
		if d != c.told {
			t.Errorf("%s: counted %+v, want %+v", c.name, d, c.told)
		}
		if after, _ := (&plog.JSONMarshaler{}).MarshalLogs(ld); string(after) != string(before) {
			t.Errorf("%s: what was sent was changed: %s", c.name, after)
		}
	}
}

// What records share counts once; a span's own times and texts do too.
func TestSanitizedSpan(t *testing.T) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "api\xff")
	scope := rs.ScopeSpans().AppendEmpty()
	scope.Scope().SetName("\xff")
	for range 2 {
		sp := scope.Spans().AppendEmpty()
		sp.SetStartTimestamp(1)
		sp.SetEndTimestamp(math.MaxUint64)
		sp.Status().SetMessage("\xff")
		e := sp.Events().AppendEmpty()
		e.SetName("\xff")
		e.SetTimestamp(math.MaxUint64)
		e.Attributes().PutStr("many", strings.Repeat("\xff", 1000))
	}
	var d Decoder
	d.Spans(td, func(r *record.Record) bool {
		if r.Service != "api\uFFFD" || r.Scope != "\uFFFD" || r.End != math.MaxInt64 || r.StatusMessage != "\uFFFD" ||
			r.Events[0].Name != "\uFFFD" || r.Events[0].Time != math.MaxInt64 || r.Events[0].Attrs[0].Value != "\uFFFD" {
			t.Errorf("%+v", r)
		}
		return true
	})
	if want := (Decoder{Times: 4, Texts: 2 + 2*3}); d != want {
		t.Errorf("counted %+v, want %+v", d, want)
	}
}
