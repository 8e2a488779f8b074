package lokireceiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	logproto "github.com/grafana/loki/pkg/push"
	"github.com/klauspost/compress/snappy"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// started is a receiver at an address of its own.
func started(t *testing.T, next consumer.Logs, change func(*Config)) (url string) {
	t.Helper()
	l := httptest.NewServer(nil) // an address that is free
	address := l.Listener.Addr().String()
	l.Close()
	cfg := createDefaultConfig().(*Config)
	cfg.Server.NetAddr.Endpoint = address
	cfg.Server.KeepAlivesEnabled = false //nolint:staticcheck // so that no connection is left behind
	if change != nil {
		change(cfg)
	}
	r, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(Type), cfg, next)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + address
}

func post(t *testing.T, url string, body []byte, header map[string]string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, strings.TrimSpace(string(text)), r.Header
}

func protobuf(t *testing.T, streams ...logproto.Stream) []byte {
	t.Helper()
	plain, err := (&logproto.PushRequest{Streams: streams}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return snappy.Encode(nil, plain)
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.Bytes()
}

// As agents send: Promtail and Alloy protobuf, Vector protobuf or JSON, Fluent Bit JSON.
func TestEncodings(t *testing.T) {
	const text = `{"streams":[{"stream":{"job":"varlogs"},"values":[["1772452800000000007","hello",{"trace_id":"x"}],["1772452800000000008","again"]]}]}`
	body := protobuf(t, logproto.Stream{Labels: `{job="varlogs"}`, Entries: []logproto.Entry{
		{Timestamp: noon.Add(7), Line: "hello", StructuredMetadata: logproto.LabelsAdapter{{Name: "trace_id", Value: "x"}}}, {Timestamp: noon.Add(8), Line: "again"}}})
	cases := []struct {
		name, path string
		body       []byte
		header     map[string]string
	}{
		{"Promtail, Alloy", "/loki/api/v1/push", body, map[string]string{"Content-Type": "application/x-protobuf"}},
		{"it says snappy", "/loki/api/v1/push", body, map[string]string{"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}},
		{"it says nothing", "/api/v1/push", body, nil},
		{"JSON", "/loki/api/v1/push", []byte(text), map[string]string{"Content-Type": "application/json; charset=utf-8"}},
		{"JSON, gzip", "/loki/api/v1/push", zipped(text), map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}},
	}
	for _, c := range cases {
		sink := new(consumertest.LogsSink)
		status, answer, _ := post(t, started(t, sink, nil)+c.path, c.body, c.header)
		if status != http.StatusNoContent {
			t.Errorf("%s: %d %s", c.name, status, answer)
			continue
		}
		rl := sink.AllLogs()[0].ResourceLogs().At(0)
		if diff := cmp.Diff(map[string]any{"job": "varlogs", "service.name": "varlogs"}, rl.Resource().Attributes().AsRaw()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		records := rl.ScopeLogs().At(0).LogRecords()
		first := records.At(0)
		if records.Len() != 2 || first.Body().Str() != "hello" || !first.Timestamp().AsTime().Equal(noon.Add(7)) || first.ObservedTimestamp() == 0 || first.Attributes().AsRaw()["trace_id"] != "x" {
			t.Errorf("%s: %v", c.name, first.Attributes().AsRaw())
		}
	}
	url := started(t, consumertest.NewNop(), nil)
	r, err := http.Get(url + "/ready")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("ready: %v", err)
	}
	if err == nil {
		_ = r.Body.Close()
	}
}

func TestMapping(t *testing.T) {
	labels, err := parseLabels(`{service_name="api", level="info", node_id="n-1", node_instance_id="i-1", hostname="h-1", env="prod", cluster="c", namespace="ns", pod="p", filename="/var/log/x", team="t\"\n", job="j"}`)
	if err != nil {
		t.Fatal(err)
	}
	ld, refused := convert([]stream{{labels: labels, entries: []logproto.Entry{
		{Timestamp: noon, Line: "plain"},
		{Timestamp: noon, Line: "much", StructuredMetadata: logproto.LabelsAdapter{{Name: "detected_level", Value: "error"}, {Name: "trace_id", Value: "0102030405060708090a0b0c0d0e0f10"},
			{Name: "span_id", Value: "0102030405060708"}, {Name: "allocation_id", Value: "a-1"}, {Name: "event_name", Value: "heartbeat"}, {Name: "severity_text", Value: "odd"}}},
		{Timestamp: time.Unix(-5, 0), Line: "before 1970"},
		{Timestamp: time.Unix(1<<40, 0), Line: "after 2262 \xff"},
	}}, {err: errNoLabels, entries: []logproto.Entry{{Line: "nobody's"}}}, {labels: labels}}, noon.Add(time.Minute))
	if len(refused) != 1 || ld.ResourceLogs().Len() != 1 {
		t.Fatalf("%v, %d resources", refused, ld.ResourceLogs().Len())
	}
	want := map[string]any{"service.name": "api", "node_id": "n-1", "node_instance_id": "i-1", "host.name": "h-1", "deployment.environment.name": "prod", "k8s.cluster.name": "c",
		"k8s.namespace.name": "ns", "k8s.pod.name": "p", "log.file.path": "/var/log/x", "team": "t\"\n", "job": "j"}
	if diff := cmp.Diff(want, ld.ResourceLogs().At(0).Resource().Attributes().AsRaw()); diff != "" {
		t.Error(diff)
	}
	records := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
	if r := records.At(0); r.SeverityNumber() != plog.SeverityNumberInfo || r.SeverityText() != "info" {
		t.Errorf("%v %s", r.SeverityNumber(), r.SeverityText())
	}
	r := records.At(1)
	if r.SeverityNumber() != plog.SeverityNumberError || r.SeverityText() != "odd" || r.TraceID().String() != "0102030405060708090a0b0c0d0e0f10" || r.SpanID().String() != "0102030405060708" || r.EventName() != "heartbeat" {
		t.Errorf("%v %s %s %s", r.SeverityNumber(), r.SeverityText(), r.TraceID(), r.SpanID())
	}
	if diff := cmp.Diff(map[string]any{"allocation_id": "a-1"}, r.Attributes().AsRaw()); diff != "" {
		t.Error(diff)
	}
	if records.At(2).Timestamp() != 0 || records.At(3).Timestamp() != 0 || records.At(3).Body().Str() != "after 2262 \uFFFD" {
		t.Error("times that nobody can say")
	}
}

// What cannot be read is answered with 400, for which senders drop it; what is good of it is taken.
func TestBadInput(t *testing.T) {
	sink := new(consumertest.LogsSink)
	url := started(t, sink, func(c *Config) { c.Server.MaxRequestBodySize = 100_000 }) + "/loki/api/v1/push"
	json := map[string]string{"Content-Type": "application/json"}
	large := snappy.Encode(nil, bytes.Repeat([]byte("a"), 1<<20)) // 50 KB that unpack to a megabyte
	cases := []struct {
		name   string
		body   []byte
		header map[string]string
		status int
		text   string
	}{
		{"nothing", nil, nil, 400, "no snappy block"},
		{"no snappy", []byte("hello hello hello"), nil, 400, "no snappy block"},
		{"no protobuf", snappy.Encode(nil, []byte("hello")), nil, 400, "no PushRequest"},
		{"unpacks to too much", large, nil, 413, "unpacks to 1048576 bytes, 100000 are taken"},
		{"too much", bytes.Repeat([]byte("x"), 200_000), json, 413, "too large"},
		{"too much in gzip", zipped(strings.Repeat(" ", 1<<20)), map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, 413, "too large"},
		{"no gzip", []byte("{}"), map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, 400, "unexpected EOF"},
		{"another encoding", []byte("{}"), map[string]string{"Content-Encoding": "br"}, 400, "unsupported Content-Encoding"},
		{"no JSON", []byte("{"), json, 400, "read the push"},
		{"a time as a number", []byte(`{"streams":[{"stream":{"a":"b"},"values":[[1,"x"]]}]}`), json, 400, "text of nanoseconds"},
		{"no time", []byte(`{"streams":[{"stream":{"a":"b"},"values":[["now","x"]]}]}`), json, 400, "text of nanoseconds"},
		{"no line", []byte(`{"streams":[{"stream":{"a":"b"},"values":[["1"]]}]}`), json, 400, "not of 1"},
		{"metadata in metadata", []byte(`{"streams":[{"stream":{"a":"b"},"values":[["1","x",{"a":{"b":"c"}}]]}]}`), json, 400, "texts by name"},
		{"no labels, but a neighbour", []byte(`{"streams":[{"stream":{},"values":[["1","bad"]]},{"stream":{"a":"b"},"values":[["1","good"]]}]}`), json, 400, "1 of 2 streams refused, the others are taken: a stream needs a label"},
		{"bad labels, but a neighbour", protobuf(t, logproto.Stream{Labels: `{a=b}`, Entries: []logproto.Entry{{Line: "bad"}}}, logproto.Stream{Labels: `{a="b"}`, Entries: []logproto.Entry{{Line: "good"}}}), nil, 400, "couldn't parse labels {a=b}: a value is not quoted"},
		{"no streams", []byte(`{}`), json, 204, ""},
	}
	for _, c := range cases {
		if status, answer, _ := post(t, url, c.body, c.header); status != c.status || !strings.Contains(answer, c.text) {
			t.Errorf("%s: %d %s, want %d %s", c.name, status, answer, c.status, c.text)
		}
	}
	if n := sink.LogRecordCount(); n != 2 {
		t.Errorf("%d records, want the two neighbours", n)
	}
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if _ = r.Body.Close(); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %s", r.Status)
	}
}

// Senders keep what is not taken now, and drop what will never be.
func TestRefused(t *testing.T) {
	body := protobuf(t, logproto.Stream{Labels: `{a="b"}`, Entries: []logproto.Entry{{Line: "x"}}})
	url := started(t, consumertest.NewErr(errors.New("sending queue is full")), nil) + "/loki/api/v1/push"
	if status, answer, header := post(t, url, body, nil); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(answer, "queue is full") {
		t.Errorf("%d %s %v", status, answer, header)
	}
	url = started(t, consumertest.NewErr(consumererror.NewPermanent(errors.New("never"))), nil) + "/loki/api/v1/push"
	if status, _, _ := post(t, url, body, nil); status != http.StatusBadRequest {
		t.Errorf("%d", status)
	}
}

func TestParseLabels(t *testing.T) {
	for text, want := range map[string][]logproto.LabelAdapter{
		`{a="b"}`:                      {{Name: "a", Value: "b"}},
		"{a=`b\"`, c_1 = \"d\\\"e\",}": {{Name: "a", Value: `b"`}, {Name: "c_1", Value: `d"e`}},
		" { a=\"}\" , b=\"\u00e9\" } ": {{Name: "a", Value: "}"}, {Name: "b", Value: "é"}},
		`{}`:                           nil, `{`: nil, `a="b"`: nil, `{a="b"`: nil, `{a='b'}`: nil, `{a!="b"}`: nil, `{1a="b"}`: nil, `{a="b" c="d"}`: nil, `{a="b"} x`: nil, `{,}`: nil, `{a=}`: nil, ``: nil,
	} {
		got, err := parseLabels(text)
		if (err == nil) != (want != nil) || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func FuzzProtobuf(f *testing.F) {
	for _, s := range []string{`{a="b"}`, `{a="b", c="d"}`, "{"} {
		plain, _ := (&logproto.PushRequest{Streams: []logproto.Stream{{Labels: s, Entries: []logproto.Entry{{Timestamp: noon, Line: "x", StructuredMetadata: logproto.LabelsAdapter{{Name: "a", Value: "b"}}}}}}}).Marshal()
		f.Add(snappy.Encode(nil, plain))
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if streams, err := readProtobuf(body, 1<<20); err == nil {
			sound(t, streams)
		}
		plain := snappy.Encode(nil, body)
		if streams, err := readProtobuf(plain, 1<<20); err == nil {
			sound(t, streams)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"streams":[{"stream":{"job":"varlogs"},"values":[["1772452800000000007","hello",{"trace_id":"x"}],["1","again"]]}]}`))
	f.Add([]byte(`{"streams":[{"stream":null,"values":[null,[]]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if streams, err := readJSON(body); err == nil {
			sound(t, streams)
		}
	})
}

// sound says that what was read becomes records that can be written.
func sound(t *testing.T, streams []stream) {
	t.Helper()
	want := 0
	for _, s := range streams {
		if s.err == nil {
			want += len(s.entries)
		}
	}
	ld, _ := convert(streams, noon)
	if ld.LogRecordCount() != want {
		t.Errorf("%d records of %d entries", ld.LogRecordCount(), want)
	}
	if _, err := new(plog.ProtoMarshaler).MarshalLogs(ld); err != nil {
		t.Error(err)
	}
}

func FuzzLabels(f *testing.F) {
	f.Add(`{a="b", c="d"}`)
	f.Add("{a=`b`}")
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := parseLabels(text)
		if err != nil {
			return
		}
		var again strings.Builder
		for i, l := range labels {
			again.WriteString([]string{"{", ", "}[min(i, 1)])
			fmt.Fprintf(&again, "%s=%q", l.Name, l.Value)
		}
		same, err := parseLabels(again.String() + "}")
		if err != nil || !cmp.Equal(labels, same) {
			t.Errorf("%q: %v, then %v, %v", text, labels, same, err)
		}
	})
}
