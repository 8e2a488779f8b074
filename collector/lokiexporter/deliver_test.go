package lokiexporter

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	logproto "github.com/grafana/loki/pkg/push"
	"github.com/klauspost/compress/snappy"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// loki answers pushes as it is told to, and keeps what it accepts.
type loki struct {
	*httptest.Server
	answer func(w http.ResponseWriter, req *logproto.PushRequest) (stored bool)

	mu     sync.Mutex
	lines  []string // stored, in order
	pushes int
	header http.Header
	bodies []string
}

func newLoki(t *testing.T, answer func(http.ResponseWriter, *logproto.PushRequest) bool) *loki {
	l := &loki{answer: answer}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	return l
}

func (l *loki) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	compressed, _ := io.ReadAll(r.Body)
	body, err := snappy.Decode(nil, compressed)
	var req logproto.PushRequest
	if err != nil || req.Unmarshal(body) != nil || r.URL.Path != pushPath {
		http.Error(w, "no push", http.StatusBadRequest)
		return
	}
	l.pushes++
	l.header = r.Header
	l.bodies = append(l.bodies, string(body))
	if l.answer != nil && !l.answer(w, &req) {
		return
	}
	for _, s := range req.Streams {
		for _, e := range s.Entries {
			l.lines = append(l.lines, e.Line)
		}
	}
	if l.answer == nil {
		w.WriteHeader(http.StatusNoContent)
	}
}

func (l *loki) stored() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.lines))
}

// started is an exporter for that Loki, and its metrics.
func started(t *testing.T, l *loki, change func(*Config)) (exporter.Logs, *componenttest.Telemetry) {
	t.Helper()
	cfg := config()
	cfg.Client.Endpoint = l.URL
	cfg.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
	cfg.Retry.Enabled = false
	if change != nil {
		change(cfg)
	}
	tel := componenttest.NewTelemetry()
	set := exportertest.NewNopSettings(Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	e, err := NewFactory().CreateLogs(t.Context(), set, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return e, tel
}

// counted is the sum of a counter by one attribute.
func counted(t *testing.T, tel *componenttest.Telemetry, name, by string) map[string]int {
	t.Helper()
	out := map[string]int{}
	m, err := tel.GetMetric(name)
	if err != nil {
		return out
	}
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		v, _ := p.Attributes.Value(attributeKey(by))
		out[v.AsString()] += int(p.Value)
	}
	return out
}

func lines(n int) plog.Logs {
	ld := plog.NewLogs()
	for i := range n {
		write(ld, "api", fmt.Sprintf("line %02d", i), noon.Add(time.Duration(i)), nil)
	}
	return ld
}

func named(n int, but ...int) (out []string) {
	for i := range n {
		if !slices.Contains(but, i) {
			out = append(out, fmt.Sprintf("line %02d", i))
		}
	}
	return out
}

func TestPush(t *testing.T) {
	l := newLoki(t, nil)
	e, tel := started(t, l, func(c *Config) { c.TenantID = "t-1"; c.MaxPushEntries = 4 })
	if err := e.ConsumeLogs(t.Context(), lines(10)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(named(10), l.stored()); diff != "" {
		t.Error(diff)
	}
	if l.pushes != 3 || l.header.Get("X-Scope-OrgID") != "t-1" || l.header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%d pushes, header %v", l.pushes, l.header)
	}
	if got := counted(t, tel, "faultline_loki_exporter_entries_total", ""); got[""] != 10 {
		t.Errorf("%v", got)
	}
	if got := counted(t, tel, "faultline_loki_exporter_pushes_total", "outcome"); got[accepted] != 3 {
		t.Errorf("%v", got)
	}
}

// What one answer says of the whole push, with nothing stored, is to be sent again, and is no loss.
func TestAnswersThatAreSentAgain(t *testing.T) {
	for _, status := range []int{401, 403, 404, 408, 429, 500, 502, 503, 504} {
		l := newLoki(t, func(w http.ResponseWriter, _ *logproto.PushRequest) bool {
			http.Error(w, "not now", status)
			return false
		})
		e, tel := started(t, l, nil)
		err := e.ConsumeLogs(t.Context(), lines(3))
		if err == nil || consumererror.IsPermanent(err) || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %v", status, err)
		}
		if got := counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason"); len(got) != 0 {
			t.Errorf("%d: dropped %v", status, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-3": 0, "soon": 0,
		noon.Add(time.Minute).Format(http.TimeFormat): time.Minute, noon.Add(-time.Minute).Format(http.TimeFormat): 0} {
		if got := retryAfter(text, noon); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	calls := 0
	var times []time.Time
	l := newLoki(t, func(w http.ResponseWriter, _ *logproto.PushRequest) bool {
		times = append(times, time.Now())
		if calls++; calls == 1 {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return false
		}
		w.WriteHeader(http.StatusNoContent)
		return true
	})
	e, tel := started(t, l, func(c *Config) {
		c.Retry = configretry.NewDefaultBackOffConfig()
		c.Retry.InitialInterval = 10 * time.Millisecond
	})
	if err := e.ConsumeLogs(t.Context(), lines(3)); err != nil {
		t.Fatal(err)
	}
	if waited := times[1].Sub(times[0]); waited < 990*time.Millisecond {
		t.Errorf("it came again after %v", waited)
	}
	if l.bodies[0] != l.bodies[1] {
		t.Error("what was sent again is not the same")
	}
	if got := counted(t, tel, "faultline_loki_exporter_pushes_total", "outcome"); got[throttled] != 1 || got[accepted] != 1 {
		t.Errorf("%v", got)
	}
}

// Of a batch of several streams one is over its rate: the others arrive, and only it is sent again.
func TestOnlyWhatIsMissingIsSentAgain(t *testing.T) {
	refusals := 0
	l := newLoki(t, func(w http.ResponseWriter, req *logproto.PushRequest) bool {
		if strings.Contains(req.Streams[0].Labels, `"b"`) && refusals < 2 {
			refusals++
			http.Error(w, "Per stream rate limit exceeded", http.StatusTooManyRequests)
			return false
		}
		w.WriteHeader(http.StatusNoContent)
		return true
	})
	e, _ := started(t, l, func(c *Config) {
		c.Retry = configretry.NewDefaultBackOffConfig()
		c.Retry.InitialInterval = 10 * time.Millisecond
	})
	ld := plog.NewLogs()
	for i := range 12 {
		write(ld, []string{"a", "b", "c"}[i%3], fmt.Sprintf("line %02d", i), noon.Add(time.Duration(i)), nil)
	}
	if err := e.ConsumeLogs(t.Context(), ld); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(named(12), l.stored()); diff != "" {
		t.Errorf("each once: %s", diff)
	}
	if l.pushes != 5 {
		t.Errorf("%d pushes, want a, b, c, b, b", l.pushes)
	}
}

// Loki away in the middle of a batch: what it has taken is not sent again.
func TestAwayInTheMiddle(t *testing.T) {
	calls := 0
	l := newLoki(t, func(w http.ResponseWriter, _ *logproto.PushRequest) bool {
		if calls++; calls == 2 {
			w.WriteHeader(http.StatusBadGateway)
			return false
		}
		w.WriteHeader(http.StatusNoContent)
		return true
	})
	e, _ := started(t, l, func(c *Config) { c.MaxPushEntries = 2 })
	err := e.ConsumeLogs(t.Context(), lines(6))
	var left consumererror.Logs
	if !errors.As(err, &left) || left.Data().LogRecordCount() != 4 {
		t.Fatalf("%v", err)
	}
	if err := e.ConsumeLogs(t.Context(), left.Data()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(named(6), l.stored()); diff != "" {
		t.Error(diff)
	}
}

// Refused in words of Loki: the rest is stored already, and is not sent again.
func TestExplainedRefusals(t *testing.T) {
	l := newLoki(t, func(w http.ResponseWriter, req *logproto.PushRequest) bool {
		http.Error(w, fmt.Sprintf("2 errors like: entry for stream '%[1]s' has timestamp too old: 2026-01-01T00:00:00Z, oldest acceptable timestamp is: 2026-02-01T00:00:00Z; "+
			"1 errors like: max entry size '10' bytes exceeded for stream '%[1]s' while adding an entry with length '11' bytes", req.Streams[0].Labels), http.StatusBadRequest)
		return true
	})
	e, tel := started(t, l, nil)
	if err := e.ConsumeLogs(t.Context(), lines(5)); err != nil {
		t.Fatal(err)
	}
	if l.pushes != 1 {
		t.Errorf("%d pushes", l.pushes)
	}
	if diff := cmp.Diff(map[string]int{refusedTooOld: 2, refusedLine: 1}, counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason")); diff != "" {
		t.Error(diff)
	}
	if got := counted(t, tel, "faultline_loki_exporter_entries_total", ""); got[""] != 2 {
		t.Errorf("%v", got)
	}
}

// Refused in words that nobody knows, or for their size: the culprits are found, and their neighbours delivered.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		status int
		reason string
	}{{http.StatusBadRequest, refusedOther}, {http.StatusRequestEntityTooLarge, refusedSize}} {
		l := newLoki(t, func(w http.ResponseWriter, req *logproto.PushRequest) bool {
			for _, e := range req.Streams[0].Entries {
				if e.Line == "line 07" || e.Line == "line 08" || e.Line == "line 30" {
					http.Error(w, "a proxy dislikes this", c.status)
					return false
				}
			}
			w.WriteHeader(http.StatusNoContent)
			return true
		})
		e, tel := started(t, l, nil)
		if err := e.ConsumeLogs(t.Context(), lines(40)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(named(40, 7, 8, 30), l.stored()); diff != "" {
			t.Error(diff)
		}
		if got := counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason"); got[c.reason] != 3 {
			t.Errorf("%v", got)
		}
	}
}

// One that refuses everything is in trouble itself: nothing is dropped. One line that is refused for as long as others are taken is.
func TestRefusedWhole(t *testing.T) {
	bad := true
	l := newLoki(t, func(w http.ResponseWriter, req *logproto.PushRequest) bool {
		if bad || req.Streams[0].Entries[0].Line == "line 00" {
			http.Error(w, "no", http.StatusBadRequest)
			return false
		}
		w.WriteHeader(http.StatusNoContent)
		return true
	})
	e, tel := started(t, l, nil)
	for range 2 * suspectAfter {
		if err := e.ConsumeLogs(t.Context(), lines(100)); err == nil || consumererror.IsPermanent(err) {
			t.Fatalf("%v", err)
		}
	}
	if got := counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason"); len(got) != 0 {
		t.Errorf("dropped %v", got)
	}
	bad = false
	var err error
	for range suspectAfter {
		other := plog.NewLogs()
		write(other, "other", "taken", noon, nil)
		if err := e.ConsumeLogs(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		err = e.ConsumeLogs(t.Context(), lines(1))
	}
	if err != nil {
		t.Error(err)
	}
	if got := counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason"); got[refusedOther] != 1 {
		t.Errorf("%v", got)
	}
}

func TestBlocked(t *testing.T) {
	l := newLoki(t, func(w http.ResponseWriter, _ *logproto.PushRequest) bool {
		w.WriteHeader(260)
		_, _ = io.WriteString(w, "ingestion blocked for user 'fake'")
		return false
	})
	e, tel := started(t, l, nil)
	if err := e.ConsumeLogs(t.Context(), lines(3)); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason"); got[refusedBlocked] != 3 {
		t.Errorf("%v", got)
	}
}
