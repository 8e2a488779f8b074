package lokiexporter

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	logproto "github.com/grafana/loki/pkg/push"
	"github.com/klauspost/compress/snappy"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/collector/queuestorage"
)

// forgetful takes pushes, whose answers can be lost, and answers queries as Loki does.
type forgetful struct {
	*httptest.Server

	mu      sync.Mutex
	entries []stored // as they came: twice what came twice
	most    int      // entries of a push that are taken; the rest of it, and its answer, is lost
	query   int      // status of queries; 0: they are answered; 200: with something else
	queries int
}

type stored struct {
	at       int64
	line     string
	metadata map[string]string
}

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{most: 1 << 30}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Path != pushPath {
		f.answer(w, r)
		return
	}
	compressed, _ := io.ReadAll(r.Body)
	body, err := snappy.Decode(nil, compressed)
	var req logproto.PushRequest
	if err != nil || req.Unmarshal(body) != nil {
		http.Error(w, "no push", http.StatusBadRequest)
		return
	}
	n := 0
	for _, s := range req.Streams {
		for _, e := range s.Entries {
			if n++; n > f.most {
				panic(http.ErrAbortHandler)
			}
			metadata := map[string]string{"detected_level": "info"}
			for _, one := range e.StructuredMetadata {
				metadata[one.Name] = one.Value
			}
			f.entries = append(f.entries, stored{e.Timestamp.UnixNano(), e.Line, metadata})
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// answer gives each line in a stream of its own, oldest first.
func (f *forgetful) answer(w http.ResponseWriter, r *http.Request) {
	f.queries++
	if f.query == http.StatusOK {
		_, _ = io.WriteString(w, "<html>a portal's page</html>")
		return
	}
	if f.query != 0 {
		http.Error(w, "no queries", f.query)
		return
	}
	number := func(name string) int64 { n, _ := strconv.ParseInt(r.URL.Query().Get(name), 10, 64); return n }
	type result struct {
		Stream map[string]string `json:"stream"`
		Values [][2]string       `json:"values"`
	}
	var out []result
	for _, e := range slices.SortedStableFunc(slices.Values(f.entries), func(a, b stored) int { return cmp.Compare(a.at, b.at) }) {
		if e.at >= number("start") && e.at < number("end") && len(out) < int(number("limit")) {
			out = append(out, result{e.metadata, [][2]string{{fmt.Sprint(e.at), e.line}}})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"result": out}})
}

// lines is how often each line came.
func (f *forgetful) lines() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]int{}
	for _, e := range f.entries {
		out[e.line+e.metadata["allocation_id"]]++
	}
	return out
}

func (f *forgetful) set(change func()) { f.mu.Lock(); defer f.mu.Unlock(); change() }

type extensions map[component.ID]component.Component

func (e extensions) GetExtensions() map[component.ID]component.Component { return e }

// process is an exporter with a queue on disk, without the queue. It is not shut down: it is killed.
func process(t *testing.T, f *forgetful, dir string) (*lokiExporter, *componenttest.Telemetry) {
	t.Helper()
	id := component.NewID(queuestorage.Type)
	qc := queuestorage.NewFactory().CreateDefaultConfig().(*queuestorage.Config)
	qc.Directory, qc.MinFreeMiB, qc.FSync = dir, 1, false
	if err := qc.Validate(); err != nil {
		t.Fatal(err)
	}
	files, err := queuestorage.NewFactory().Create(t.Context(), extensiontest.NewNopSettings(queuestorage.Type), qc)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config()
	cfg.Client.Endpoint = f.URL
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.StorageID = &id
	cfg.Queue = configoptional.Some(queue)
	tel := componenttest.NewTelemetry()
	set := exportertest.NewNopSettings(Type)
	set.ID, set.TelemetrySettings = component.NewID(Type), tel.NewTelemetrySettings()
	e, err := newExporter(cfg, set)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.start(t.Context(), extensions{id: files}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.shutdown(t.Context()) })
	return e, tel
}

// many are lines of two allocations, all at few moments, more than one answer to a query has.
func many(n int) plog.Logs {
	ld := plog.NewLogs()
	for i := range n {
		write(ld, "api", fmt.Sprint("line ", i/2), noon.Add(time.Duration(i/500)), map[string]any{"allocation_id": fmt.Sprint(" a-", i%2)})
	}
	return ld
}

func once(t *testing.T, f *forgetful, n int) {
	t.Helper()
	there := f.lines()
	for line, times := range there {
		if times != 1 {
			t.Fatalf("%q came %d times", line, times)
		}
	}
	if len(there) != n {
		t.Fatalf("%d of %d lines", len(there), n)
	}
}

// A push whose answer was lost is sent again without what Loki has of it.
func TestInDoubt(t *testing.T) {
	f := newForgetful(t)
	e, tel := process(t, f, t.TempDir())
	f.set(func() { f.most = 1501 })
	if err := e.consume(t.Context(), many(4000)); err == nil {
		t.Fatal("the answer was lost, and nobody says so")
	}
	f.set(func() { f.most = 1 << 30 })
	for range 2 { // the second time it is nobody's fault
		if err := e.consume(t.Context(), many(4000)); err != nil {
			t.Fatal(err)
		}
		once(t, f, 4000)
	}
	if diff := counted(t, tel, "faultline_loki_exporter_entries_doubted_total", "outcome"); !maps.Equal(diff, map[string]int{present: 1501 + 4000, absent: 2499}) {
		t.Error(diff)
	}
	before := f.queries
	if err := e.consume(t.Context(), lines(10)); err != nil || f.queries == before {
		t.Errorf("%v; the same time was in doubt, and Loki was asked %d times", err, f.queries-before)
	}
	later := plog.NewLogs()
	write(later, "api", "later", noon.Add(time.Minute), nil)
	before = f.queries
	if err := e.consume(t.Context(), later); err != nil || f.queries != before {
		t.Errorf("%v; Loki was asked %d times for what nobody doubts", err, f.queries-before)
	}
}

// What was under way when the exporter was killed, or was delivered just before, is given by the queue once more.
func TestInDoubtAfterAKill(t *testing.T) {
	f, dir := newForgetful(t), t.TempDir()
	killed, _ := process(t, f, dir)
	if err := killed.consume(t.Context(), many(1000)); err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.most = 300 })
	under := plog.NewLogs()
	for i := range 600 {
		write(under, "other", fmt.Sprint("under way ", i), noon.Add(time.Hour), nil)
	}
	if err := killed.consume(t.Context(), under); err == nil {
		t.Fatal("the answer was lost, and nobody says so")
	}
	f.set(func() { f.most = 1 << 30 })
	if err := killed.doubts.store.Close(t.Context()); err != nil { // as the end of a process does; nothing is written
		t.Fatal(err)
	}
	e, _ := process(t, f, dir)
	for _, again := range []plog.Logs{under, many(1000)} {
		if err := e.consume(t.Context(), again); err != nil {
			t.Fatal(err)
		}
	}
	once(t, f, 1600)
}

// A note holds as long as its batch is under way, and some time more; what is covered costs no write.
func TestNotes(t *testing.T) {
	f, dir := newForgetful(t), t.TempDir()
	e, _ := process(t, f, dir)
	now := time.Now()
	e.doubts.now = func() time.Time { return now }
	slow, quick := newBatch(e.cfg), newBatch(e.cfg)
	slow.add(lines(3))
	written := func() spans {
		t.Helper()
		text, err := e.doubts.store.Get(t.Context(), notesKey)
		if err != nil {
			t.Fatal(err)
		}
		var out spans
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := e.doubts.begin(t.Context(), slow); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		ld := plog.NewLogs()
		write(ld, "api", "a line", noon.Add(time.Hour+time.Duration(i)*3*time.Second), nil)
		quick.reset()
		quick.add(ld)
		if err := e.doubts.begin(t.Context(), quick); err != nil {
			t.Fatal(err)
		}
		e.doubts.end(quick)
		labels := quick.order[0].labels
		if all := written(); !all.cover(labels, spanOf(slow.order[0].entries, now)) || !all.cover(labels, spanOf(quick.order[0].entries, now)) {
			t.Fatalf("%d: not noted: %v", i, all)
		}
		now = now.Add(3 * time.Second)
	}
	first := span{From: noon.Add(time.Hour).UnixNano(), To: noon.Add(time.Hour).UnixNano()}
	if all := written(); all.touch(slow.order[0].labels, first) {
		t.Errorf("noted for ever: %v", all)
	}
}

// Who may not read is sent everything again, at once; a Loki in trouble is waited for, for a minute.
func TestInDoubtUnasked(t *testing.T) {
	f := newForgetful(t)
	e, tel := process(t, f, t.TempDir())
	f.set(func() { f.most, f.query = 2, http.StatusServiceUnavailable })
	if err := e.consume(t.Context(), lines(5)); err == nil {
		t.Fatal("the answer was lost, and nobody says so")
	}
	f.set(func() { f.most = 1 << 30 })
	var status *statusError
	if err := e.consume(t.Context(), lines(5)); !errors.As(err, &status) || status.status != http.StatusServiceUnavailable || len(f.lines()) != 2 {
		t.Fatalf("%v, %v", err, f.lines())
	}
	f.set(func() { f.query = http.StatusForbidden })
	if err := e.consume(t.Context(), lines(5)); err != nil || len(f.lines()) != 5 {
		t.Fatalf("%v, %v", err, f.lines())
	}
	if got := counted(t, tel, "faultline_loki_exporter_entries_doubted_total", "outcome"); !maps.Equal(got, map[string]int{unknown: 5}) {
		t.Error(got)
	}

	f.set(func() { f.query = http.StatusOK }) // an answer that is none of Loki's
	if err := e.consume(t.Context(), lines(5)); err != nil {
		t.Fatal(err)
	}
	if got := counted(t, tel, "faultline_loki_exporter_entries_doubted_total", "outcome"); !maps.Equal(got, map[string]int{unknown: 10}) {
		t.Error(got)
	}

	var r reader
	at, trouble := noon, &statusError{http.StatusBadGateway, "no"}
	for _, step := range []struct {
		after   time.Duration
		err     error
		patient bool
	}{
		{0, trouble, true}, {askedFor - 1, trouble, true}, {1, trouble, false},
		{0, errors.New("connection refused"), true}, {time.Hour, trouble, true}, {askedFor, trouble, false}, {0, errUnasked, false},
	} {
		at = at.Add(step.after)
		if got := r.patient(step.err, at); got != step.patient {
			t.Errorf("%s, %v: %v", at, step.err, got)
		}
	}
	if !r.first() || r.first() {
		t.Error("it is told more than once")
	}
	r.answered()
	if !r.first() || !r.patient(trouble, at) {
		t.Error("an answer changes nothing")
	}
}

func TestQueryURL(t *testing.T) {
	for push, want := range map[string]string{
		"http://loki:3100/loki/api/v1/push":     "http://loki:3100/loki/api/v1/query_range",
		"https://a/b/loki/api/v1/push":          "https://a/b/loki/api/v1/query_range",
		"http://gateway/somewhere/else":         "",
		pushURL("http://loki:3100/"):            "http://loki:3100/loki/api/v1/query_range",
		pushURL("http://loki/loki/api/v1/push"): "http://loki/loki/api/v1/query_range",
	} {
		if got := queryURL(push); got != want {
			t.Errorf("%s: %q", push, got)
		}
	}
}
