package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver is an OTLP/HTTP receiver that answers as it is told.
type receiver struct {
	mu      sync.Mutex
	answers []int // statuses of the next requests; then 200
	tries   int
	logs    []string // bodies of accepted records
	spans   []string // names of accepted spans
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	body, _ := io.ReadAll(q.Body)
	if len(r.answers) > 0 {
		status := r.answers[0]
		r.answers = r.answers[1:]
		w.WriteHeader(status)
		return
	}
	if strings.HasSuffix(q.URL.Path, "/logs") {
		in := plogotlp.NewExportRequest()
		if err := in.UnmarshalProto(body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, rl := range in.Logs().ResourceLogs().All() {
			for _, l := range rl.ScopeLogs().At(0).LogRecords().All() {
				r.logs = append(r.logs, l.Body().Str())
			}
		}
		return
	}
	in := ptraceotlp.NewExportRequest()
	if err := in.UnmarshalProto(body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, rs := range in.Traces().ResourceSpans().All() {
		for _, s := range rs.ScopeSpans().At(0).Spans().All() {
			r.spans = append(r.spans, s.Name())
		}
	}
}

func open(t *testing.T, c telemetry.Config, log io.Writer) *telemetry.Exporter {
	t.Helper()
	c.Flush, c.Timeout = 5*time.Millisecond, time.Second
	e, err := telemetry.Open(c, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func shut(t *testing.T, e *telemetry.Exporter, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestEverythingArrivesAfterAnOutage(t *testing.T) {
	r := &receiver{answers: []int{503, 429, 500}}
	s := httptest.NewServer(r)
	defer s.Close()
	e := open(t, telemetry.Config{Endpoint: s.URL, Queue: 100, Batch: 10}, io.Discard)
	source := e.Emitter("api")
	for range 25 {
		source.Log(context.Background(), telemetry.Info, "line")
	}
	_, span := source.Start(context.Background(), "work", telemetry.Internal)
	span.End()
	span.End()
	shut(t, e, 10*time.Second)
	if len(r.logs) != 25 || len(r.spans) != 1 || e.Stats().Dropped != 0 {
		t.Fatalf("%d lines, %d spans, %+v", len(r.logs), len(r.spans), e.Stats())
	}
}

func TestWhatIsRefusedIsNotSentAgain(t *testing.T) {
	r := &receiver{answers: []int{400}}
	s := httptest.NewServer(r)
	defer s.Close()
	e := open(t, telemetry.Config{Endpoint: s.URL, Queue: 10, Batch: 10}, io.Discard)
	e.Emitter("api").Log(context.Background(), telemetry.Info, "line")
	shut(t, e, 10*time.Second)
	if r.tries != 1 || e.Stats().Dropped != 1 {
		t.Fatalf("%d tries, %+v", r.tries, e.Stats())
	}
}

func TestAFullQueueDropsCountsAndSaysSoOnce(t *testing.T) {
	s := httptest.NewServer(&receiver{answers: []int{503, 503, 503, 503, 503, 503}})
	defer s.Close()
	var log bytes.Buffer
	e := open(t, telemetry.Config{Endpoint: s.URL, Queue: 20, Batch: 10}, &log)
	source := e.Emitter("api")
	began := time.Now()
	for range 2000 {
		source.Log(context.Background(), telemetry.Info, "line")
	}
	if took := time.Since(began); took > time.Second {
		t.Fatalf("the caller waited: %s", took)
	}
	shut(t, e, 100*time.Millisecond)
	if got := e.Stats(); got.Dropped == 0 || got.Dropped > 2000 {
		t.Fatalf("%+v", got)
	}
	source.Log(context.Background(), telemetry.Info, "too late") // no panic
	if n := strings.Count(log.String(), "records are dropped"); n < 1 || n > 2 || !strings.Contains(log.String(), "records were dropped") {
		t.Fatal(log.String())
	}
}

func TestFileIsWhatTheFileExporterWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	e := open(t, telemetry.Config{File: path, Queue: 100, Batch: 10}, io.Discard)
	ctx := telemetry.With(context.Background(), semconv.AllocationID, "a-1", semconv.NodeID, "")
	source := e.Emitter("provisioner", slog.String(semconv.HostName, "h"))
	ctx, span := source.Start(ctx, "work", telemetry.Server)
	source.Event(ctx, semconv.EventAllocationState, slog.String(semconv.From, "requested"), slog.String(semconv.To, "reserved"), slog.Int("n", 3), slog.Bool("b", true))
	span.Fail(errors.New("boom"), "kind")
	span.End()
	shut(t, e, time.Second)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, `{"resourceLogs":[`):
			ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			l := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
			id, _ := l.Attributes().Get(semconv.EventIDKey)
			a, _ := l.Attributes().Get(semconv.AllocationID)
			_, empty := l.Attributes().Get(semconv.NodeID)
			if l.EventName() != semconv.EventAllocationState || a.Str() != "a-1" || id.Str() == "" || empty || l.TraceID().IsEmpty() ||
				l.ObservedTimestamp() < l.Timestamp() || l.Body().Str() != "allocation.state requested -> reserved" {
				t.Fatal(line)
			}
		case strings.HasPrefix(line, `{"resourceSpans":[`):
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if s := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0); s.Status().Message() != "boom" || s.EndTimestamp() < s.StartTimestamp() {
				t.Fatal(line)
			}
		default:
			t.Fatal(line)
		}
	}
}

func TestContextSurvivesHTTPAndRows(t *testing.T) {
	ctx := telemetry.With(context.Background(), semconv.AllocationID, "a/1=ä"[:3], semconv.CorrelationID, "c-1", semconv.NodeID, "n-1", semconv.RequestID, "r-1")
	ctx = telemetry.WithSpan(ctx, telemetry.NewTrace())
	h := http.Header{}
	telemetry.Inject(ctx, h)
	got := telemetry.Extract(context.Background(), h)
	if telemetry.SpanOf(got) != telemetry.SpanOf(ctx) || telemetry.ID(got, semconv.AllocationID) != "a/1" || telemetry.ID(got, semconv.CorrelationID) != "c-1" ||
		telemetry.ID(got, semconv.RequestID) != "r-1" || telemetry.ID(got, semconv.NodeID) != "" {
		t.Fatal(h)
	}
	row := telemetry.Carry(ctx).Resume(context.Background())
	if telemetry.SpanOf(row) != telemetry.SpanOf(ctx) || telemetry.ID(row, semconv.AllocationID) != "a/1" {
		t.Fatal(telemetry.Carry(ctx))
	}
	if telemetry.SpanOf(telemetry.Detached(ctx)).Valid() || telemetry.ID(telemetry.Detached(ctx), semconv.AllocationID) != "" {
		t.Fatal("still bound")
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "allocation_id=a-1,correlation_id=c%201;p=1", "c-1")
	f.Add("ff--", "=,;%zz", strings.Repeat("x", 300))
	f.Fuzz(func(t *testing.T, trace, baggage, correlation string) {
		h := http.Header{"Traceparent": {trace}, "Baggage": {baggage}, "X-Correlation-Id": {correlation}}
		ctx := telemetry.Extract(context.Background(), h)
		for _, key := range []string{semconv.AllocationID, semconv.CorrelationID} {
			if v := telemetry.ID(ctx, key); v != "" && !telemetry.PlausibleID(v) {
				t.Fatalf("%s is %q", key, v)
			}
		}
		if c := telemetry.SpanOf(ctx); c.Valid() && telemetry.ParseTraceparent(c.String()) != c {
			t.Fatal(c)
		}
	})
}

func BenchmarkEvent(b *testing.B) {
	e, err := telemetry.Open(telemetry.Config{Queue: 1 << 16, Batch: 512, Flush: time.Second}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	source := e.Emitter("provisioner")
	ctx := telemetry.With(context.Background(), semconv.AllocationID, "a-1", semconv.WorkflowID, "wf-1", semconv.CorrelationID, "c-1")
	b.ReportAllocs()
	for b.Loop() {
		source.Event(ctx, semconv.EventAllocationState, slog.String(semconv.From, "requested"), slog.String(semconv.To, "reserved"))
	}
	_ = e.Close(context.Background())
}
