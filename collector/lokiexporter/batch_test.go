package lokiexporter

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	logproto "github.com/grafana/loki/pkg/push"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func config() *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.Client.Endpoint = "http://127.0.0.1:1"
	return cfg
}

// told makes the pushes of logs and reads them as Loki does.
func told(t interface {
	Helper()
	Fatal(...any)
}, b *batch, ld plog.Logs) (out []logproto.PushRequest) {
	t.Helper()
	b.reset()
	b.add(ld)
	for _, p := range b.pushes() {
		var req logproto.PushRequest
		if err := req.Unmarshal(b.encode(p)); err != nil {
			t.Fatal(err)
		}
		out = append(out, req)
	}
	return out
}

// write appends one log record to a resource of that service.
func write(ld plog.Logs, service, body string, at time.Time, attrs map[string]any) plog.LogRecord {
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", service)
	lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	lr.SetTimestamp(pcommon.NewTimestampFromTime(at))
	lr.Body().SetStr(body)
	_ = lr.Attributes().FromRaw(attrs)
	return lr
}

func pairsOf(e logproto.Entry) map[string]string {
	out := map[string]string{}
	for _, l := range e.StructuredMetadata {
		if _, twice := out[l.Name]; twice {
			out[l.Name+" twice"] = l.Value
		}
		out[l.Name] = l.Value
	}
	return out
}

func TestAnEntry(t *testing.T) {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	_ = rl.Resource().Attributes().FromRaw(map[string]any{
		"service.name": "api", "deployment.environment": "prod", "k8s.cluster.name": `c "1"`, "host.name": "h1", "node_id": "n-1", "shadowed": "resource",
	})
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName("lib")
	lr := sl.LogRecords().AppendEmpty()
	lr.SetTimestamp(pcommon.NewTimestampFromTime(noon.Add(7)))
	lr.SetSeverityNumber(plog.SeverityNumberWarn2)
	lr.SetSeverityText("WARNING")
	lr.SetTraceID(pcommon.TraceID{1})
	lr.SetSpanID(pcommon.SpanID{2})
	lr.SetEventName("allocation.state")
	lr.Body().SetStr("hello")
	_ = lr.Attributes().FromRaw(map[string]any{
		"allocation_id": "a-1", "workflow_id": "w-1", "correlation_id": "c-1", "node_instance_id": "i-1", "identity_via": "workflow",
		"http.status_code": 503, "ok": true, "shadowed": "record", "via": "1.1 proxy", "severity": "x", "list": []any{"a", 1},
		"___": "only underscores", "9lives": "y", "empty": "", "__error__": "z",
	})
	got := told(t, newBatch(config()), ld)
	if len(got) != 1 || len(got[0].Streams) != 1 || len(got[0].Streams[0].Entries) != 1 {
		t.Fatalf("%+v", got)
	}
	s := got[0].Streams[0]
	if want := `{cluster="c \"1\"", environment="prod", service_name="api", severity="warn"}`; s.Labels != want {
		t.Errorf("labels %s, want %s", s.Labels, want)
	}
	e := s.Entries[0]
	if !e.Timestamp.Equal(noon.Add(7)) || e.Line != "hello" {
		t.Errorf("%+v", e)
	}
	want := map[string]string{
		"trace_id": "01000000000000000000000000000000", "span_id": "0200000000000000", "event_name": "allocation.state", "severity_text": "WARNING", "scope_name": "lib",
		"allocation_id": "a-1", "workflow_id": "w-1", "correlation_id": "c-1", "node_id": "n-1", "node_instance_id": "i-1", "via": "workflow",
		"http_status_code": "503", "ok": "true", "shadowed": "record", "attribute_via": "1.1 proxy", "attribute_severity": "x", "list": `["a",1]`,
		"attribute_": "only underscores", "key_9lives": "y", "attribute_error": "z", "host_name": "h1",
	}
	if diff := cmp.Diff(want, pairsOf(e)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestStreamsAndTheirOrder(t *testing.T) {
	ld := plog.NewLogs()
	for i := range 10 {
		service := []string{"b", "a", ""}[i%3]
		lr := write(ld, service, fmt.Sprint(i), noon.Add(-time.Duration(i)*time.Second), map[string]any{"allocation_id": fmt.Sprint("a-", i)})
		if i == 9 {
			lr.SetSeverityText("err")
		}
	}
	cfg := config()
	lines := func(reqs []logproto.PushRequest) (out []string) {
		for _, r := range reqs {
			one := ""
			for _, s := range r.Streams {
				one += s.Labels
				for _, e := range s.Entries {
					one += " " + e.Line
				}
			}
			out = append(out, one)
		}
		return out
	}
	const b, a, u, e = `{service_name="b", severity="unknown"}`, `{service_name="a", severity="unknown"}`, `{service_name="unknown_service", severity="unknown"}`, `{service_name="b", severity="error"}`
	if diff := cmp.Diff([]string{b + " 6 3 0", a + " 7 4 1", u + " 8 5 2", e + " 9"}, lines(told(t, newBatch(cfg), ld))); diff != "" {
		t.Errorf("a push for each stream: -want +got:\n%s", diff)
	}
	cfg.StreamsPerPush = 3
	if diff := cmp.Diff([]string{b + " 6 3 0" + a + " 7 4 1" + u + " 8 5 2", e + " 9"}, lines(told(t, newBatch(cfg), ld))); diff != "" {
		t.Errorf("three streams a push: -want +got:\n%s", diff)
	}
	cfg.MaxPushEntries = 2
	if diff := cmp.Diff([]string{b + " 6 3", b + " 0" + a + " 7", a + " 4 1", u + " 8 5", u + " 2" + e + " 9"}, lines(told(t, newBatch(cfg), ld))); diff != "" {
		t.Errorf("two entries a push: -want +got:\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	cfg := config()
	cfg.MaxLineBytes, cfg.MaxMetadataBytes, cfg.MaxMetadataEntries = 10, 100, 5
	many := map[string]any{"node_instance_id": "i-1", "long": strings.Repeat("ü", 100)}
	for i := range 20 {
		many[fmt.Sprintf("a%02d", i)] = "v"
	}
	ld := plog.NewLogs()
	write(ld, strings.Repeat("s", 3000), "ääääääää", noon, many)
	write(ld, "api", "\xff\xfe bad", noon, map[string]any{"bad": "\xff"})
	write(ld, "api", "", noon, nil).SetEventName("heartbeat")
	write(ld, "api", "late", noon, nil).SetTimestamp(math.MaxUint64)
	object := write(ld, "k8s", "", noon, nil)
	cfg.MaxLineBytes = 400
	_ = object.Body().FromRaw(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "x"}, "data": map[string]any{"password": "c2VjcmV0"}})
	b := newBatch(cfg)
	cfg.MaxLineBytes = 15
	reqs := told(t, b, ld)
	first := reqs[0].Streams[0]
	if len(first.Labels) != len(`{service_name="", severity="unknown"}`)+maxLabelValue {
		t.Errorf("a label of %d bytes", len(first.Labels))
	}
	e := first.Entries[0]
	if e.Line != "äääääää" {
		t.Errorf("line %q", e.Line)
	}
	size := 0
	for _, p := range e.StructuredMetadata {
		if size += len(p.Name) + len(p.Value); !utf8.ValidString(p.Value) {
			t.Errorf("%q is cut within a character", p.Value)
		}
	}
	if got := pairsOf(e); got["node_instance_id"] != "i-1" || len(got) > 5 || size > 100 {
		t.Errorf("%d pairs of %d bytes: %v", len(got), size, got)
	}
	api := reqs[1].Streams[0].Entries
	if api[0].Line != "\uFFFD bad" || pairsOf(api[0])["bad"] != "\uFFFD" || api[1].Line != "heartbeat" || api[2].Timestamp.Year() != 2262 {
		t.Errorf("%+v", api)
	}
	want := map[string]int{clippedLabel: 1, clippedLine: 2, clippedUTF8: 2, clippedTime: 1}
	for reason, n := range want {
		if b.clipped[reason] != n {
			t.Errorf("%s: %d, want %d", reason, b.clipped[reason], n)
		}
	}
	if b.clipped[clippedMetadata] == 0 {
		t.Error("metadata that did not fit was not counted")
	}
	cfg.MaxLineBytes = 400
	b.reset()
	if k8s := told(t, newBatch(cfg), ld)[2].Streams[0].Entries[0].Line; strings.Contains(k8s, "c2VjcmV0") || !strings.Contains(k8s, "redacted") {
		t.Errorf("a Secret is told: %s", k8s)
	}
}

// Whatever the records, each arrives once, in its stream, in order, and is the same when it is made again.
func TestEveryRecordOnce(t *testing.T) {
	text := rapid.StringN(0, 20, 40)
	rapid.Check(t, func(t *rapid.T) {
		cfg := config()
		cfg.MaxPushBytes = rapid.IntRange(1024, 4096).Draw(t, "bytes")
		cfg.MaxPushEntries = rapid.IntRange(1, 20).Draw(t, "entries")
		cfg.StreamsPerPush = rapid.IntRange(1, 4).Draw(t, "streams")
		ld := plog.NewLogs()
		n := rapid.IntRange(0, 60).Draw(t, "n")
		for i := range n {
			lr := write(ld, rapid.SampledFrom([]string{"a", "b", `"c\`, "é"}).Draw(t, "service"), fmt.Sprintf("%d:%s", i, text.Draw(t, "body")),
				noon.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "time"))), map[string]any{text.Draw(t, "key"): text.Draw(t, "value"), "allocation_id": fmt.Sprint(i)})
			lr.SetSeverityNumber(plog.SeverityNumber(rapid.IntRange(-1, 26).Draw(t, "severity")))
		}
		b := newBatch(cfg)
		reqs := told(t, b, ld)
		seen := map[string]bool{}
		last := map[string]time.Time{}
		for _, r := range reqs {
			entries := 0
			for _, s := range r.Streams {
				for _, e := range s.Entries {
					entries++
					if seen[e.Line] {
						t.Fatalf("%q twice", e.Line)
					}
					seen[e.Line] = true
					if e.Timestamp.Before(last[s.Labels]) {
						t.Fatalf("%s: %v after %v", s.Labels, e.Timestamp, last[s.Labels])
					}
					last[s.Labels] = e.Timestamp
				}
			}
			if entries == 0 || entries > cfg.MaxPushEntries || len(r.Streams) > cfg.StreamsPerPush {
				t.Fatalf("%d entries of %d streams in a push", entries, len(r.Streams))
			}
			if encoded, err := r.Marshal(); err != nil || len(encoded) > cfg.MaxPushBytes+512 && entries > 1 {
				t.Fatalf("a push of %d bytes (%v)", len(encoded), err)
			}
		}
		if len(seen) != n {
			t.Fatalf("%d of %d records", len(seen), n)
		}
		if diff := cmp.Diff(reqs, told(t, newBatch(cfg), ld)); diff != "" {
			t.Fatalf("made again it differs:\n%s", diff)
		}
	})
}

// What a record may allocate: a bound is lowered, never raised.
func TestAllocationsPerRecord(t *testing.T) {
	ld := usual(1000)
	b := newBatch(config())
	encode := func() {
		b.reset()
		b.add(ld)
		for _, p := range b.pushes() {
			b.encode(p)
		}
	}
	encode()
	if per := testing.AllocsPerRun(10, encode) / 1000; per > 3.2 {
		t.Errorf("%.2f allocations a record", per)
	}
}

// usual are records such as services write.
func usual(n int) plog.Logs {
	ld := plog.NewLogs()
	for s := range 4 {
		rl := ld.ResourceLogs().AppendEmpty()
		_ = rl.Resource().Attributes().FromRaw(map[string]any{"service.name": fmt.Sprint("service-", s), "host.name": "host-1", "deployment.environment": "prod", "node_id": "n-1", "node_instance_id": "i-1"})
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName("app")
		for i := range n / 4 {
			lr := sl.LogRecords().AppendEmpty()
			lr.SetTimestamp(pcommon.NewTimestampFromTime(noon.Add(time.Duration(i) * time.Millisecond)))
			lr.SetSeverityNumber([]plog.SeverityNumber{9, 9, 9, 13, 17}[i%5])
			lr.SetTraceID(pcommon.TraceID{byte(i), byte(i >> 8), 1})
			lr.SetSpanID(pcommon.SpanID{byte(i), 1})
			lr.Body().SetStr(fmt.Sprintf("reconcile of allocation a-%d finished in %d ms", i, i*7%1000))
			_ = lr.Attributes().FromRaw(map[string]any{"allocation_id": fmt.Sprint("a-", i), "workflow_id": fmt.Sprint("w-", i), "correlation_id": fmt.Sprint("c-", i),
				"identity_via": "workflow", "http.request.method": "GET", "http.response.status_code": 200, "url.path": "/api/v1/allocations", "thread": "worker-7"})
		}
	}
	return ld
}

func BenchmarkEncode(b *testing.B) {
	ld := usual(1000)
	one := newBatch(config())
	b.ReportAllocs()
	for b.Loop() {
		one.reset()
		one.add(ld)
		for _, p := range one.pushes() {
			compress(one.encode(p)).release()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}

func plogTime(t time.Time) pcommon.Timestamp { return pcommon.NewTimestampFromTime(t) }
