package clickhouseexporter

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
)

// running gives an exporter without queue and retries, whose store is ready.
func running(t testing.TB, dsn string) *chExporter {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = configopaque.String(dsn)
	cfg.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
	e, err := newExporter(cfg, exportertest.NewNopSettings(Type))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := e.store.ready(); err == nil {
			return e
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

var base = time.Date(2026, 3, 2, 10, 0, 0, 123456789, time.UTC)

// newLog adds a log record of a service of its own.
func newLog(ld plog.Logs, service, body string, at uint64, attrs map[string]any) plog.LogRecord {
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", service)
	lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	lr.Body().SetStr(body)
	lr.SetTimestamp(pcommon.Timestamp(at))
	lr.SetObservedTimestamp(pcommon.Timestamp(at + uint64(time.Second)))
	_ = lr.Attributes().FromRaw(attrs)
	return lr
}

func hostileLogs() plog.Logs {
	ld := plog.NewLogs()
	at := uint64(base.UnixNano())
	newLog(ld, "api", "plain", at, map[string]any{"allocation_id": "a-1", "n": int64(7), "ok": true, "list": []any{"x", int64(1)}})
	newLog(ld, "", "", 0, nil)
	newLog(ld, "api", "far future", math.MaxUint64-uint64(time.Hour), nil)
	newLog(ld, "api", "last moment", math.MaxInt64, nil)
	newLog(ld, "api", "one nanosecond", 1, nil)
	newLog(ld, "api", "nul \x00 and \xff\xfe broken", at+1, map[string]any{"k\xff": "v\x00", "": "empty key"})
	newLog(ld, "api", "huge id", at+2, map[string]any{"workflow_id": strings.Repeat("w", 10_000), "node_id": "n-1"})
	newLog(ld, "api", strings.Repeat("b", 10<<20), at+3, nil)
	many := map[string]any{}
	for i := range 5000 {
		many["attribute-"+strconv.Itoa(i)] = strconv.Itoa(i)
	}
	newLog(ld, "api", "many", at+4, many)
	newLog(ld, "api", "severity", at+5, nil).SetSeverityNumber(-2_000_000_000)
	newLog(ld, "api", "name", at+6, map[string]any{"event.name": "allocation.state", "to": "active", "allocation_id": "a-1"})
	newLog(ld, "api", "second keys of a kind", at+8, map[string]any{"request_id": "r-1", "request.id": "r-2", "task_id": "", "boot.id": "b,1"})
	odd := newLog(ld, "api", "resource", at+9, map[string]any{"provider_job": "aap/x/job/1", "identity_stamped": "workflow_id,allocation_id", "workflow_id": "w-9",
		"allocation_id": "a-9", "identity_via": "request", "identity_conflict": "allocation a-8"})
	odd.SetTraceID(pcommon.TraceID{9})
	resource := ld.ResourceLogs().At(ld.ResourceLogs().Len() - 1).Resource().Attributes()
	resource.PutStr("quote\"and\\", "<&>\u2028 \x00 \xff é")
	resource.PutStr("", "empty")
	resource.PutStr("request_id", "r-of-resource")
	newLog(ld, "api", "duplicate", at+7, map[string]any{"event_id": "twice"})
	return ld
}

func hostileSpans() ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "provisioner")
	rs.Resource().Attributes().PutStr("node_id", "n-7")
	spans := rs.ScopeSpans().AppendEmpty()
	spans.Scope().SetName("steps")
	s := spans.Spans().AppendEmpty()
	s.SetName("reserve")
	s.SetTraceID(pcommon.TraceID{1, 2, 3})
	s.SetSpanID(pcommon.SpanID{4})
	s.SetParentSpanID(pcommon.SpanID{5})
	s.SetKind(ptrace.SpanKindServer)
	s.SetStartTimestamp(pcommon.Timestamp(base.UnixNano()))
	s.SetEndTimestamp(pcommon.Timestamp(base.Add(time.Second).UnixNano()))
	s.Status().SetCode(ptrace.StatusCodeError)
	s.Status().SetMessage("no capacity <&>\u2028")
	s.Attributes().PutStr("allocation_id", "a-1")
	s.Attributes().PutStr("workflow_id", "w-1")
	s.Attributes().PutStr("node_instance_id", "i-1")
	s.Attributes().PutStr("identity_stamped", "node_instance_id")
	s.Attributes().PutStr("identity_via", "explicit")
	e := s.Events().AppendEmpty()
	e.SetName("exception")
	e.SetTimestamp(pcommon.Timestamp(base.UnixNano() + 5))
	e.Attributes().PutStr("exception.message", "x\x00\xff")
	bare := spans.Spans().AppendEmpty()
	bare.SetName("bare")
	return td
}

func decode(e *chExporter, ld plog.Logs, td ptrace.Traces) map[string]*record.Record {
	out := map[string]*record.Record{}
	take := func(r *record.Record) bool {
		r.Keys = e.profile.Keys(r)
		out[r.Key()[:record.KeyDigits]] = r
		return true
	}
	otlp.Logs(ld, take)
	otlp.Spans(td, take)
	return out
}

// What the store gives back is what was sent, to the byte.
func TestRoundTrip(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	conn := connect(t, dsn)
	ld, td := hostileLogs(), hostileSpans()
	want, begun := decode(e, ld, td), time.Now()
	if err := e.consumeLogs(t.Context(), ld); err != nil {
		t.Fatal(err)
	}
	if err := e.consumeTraces(t.Context(), td); err != nil {
		t.Fatal(err)
	}
	got := readAll(t, conn)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for _, r := range got {
		w, ok := want[r.key]
		if !ok {
			t.Errorf("row %.40q has a key that was not sent", r.Body)
			continue
		}
		if r.Key()[:record.KeyDigits] != r.key || r.Content() != w.Content() {
			t.Errorf("row %.40q: rebuilt key %s of %s, content %s, want %s", r.Body, r.Key(), r.key, r.Content(), w.Content())
		}
		if diff := cmp.Diff(w, r.Record, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(record.Record{}, "Ingested", "Keys")); diff != "" && len(diff) < 4000 {
			t.Errorf("row %.40q (-sent +read):\n%s", r.Body, diff)
		}
		for _, k := range w.Keys {
			if !slices.Contains(r.Keys, k) {
				t.Errorf("row %.40q is not found by its %s %q", r.Body, k.Kind, k.ID)
			}
		}
		if r.Ingested < begun.UnixNano() || r.Ingested > time.Now().UnixNano() {
			t.Errorf("row %.40q was ingested at %d: not by the store's clock", r.Body, r.Ingested)
		}
	}
}

func TestIdentifierColumns(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	if err := e.consumeTraces(t.Context(), hostileSpans()); err != nil {
		t.Fatal(err)
	}
	rows := readAll(t, connect(t, dsn))
	got := rows[len(rows)-1]
	// The node instance was stamped by the processor: it stands in its column and can be found by it.
	want := map[string]string{"allocation_id": "a-1", "workflow_id": "w-1", "node_id": "n-7", "node_instance_id": "i-1"}
	if diff := cmp.Diff(want, got.ids); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"allocation:a-1", "workflow:w-1", "node:n-7", "node_instance:i-1", "trace:01020300000000000000000000000000"}, got.keys); diff != "" {
		t.Error(diff)
	}
	if got.via != "explicit" {
		t.Errorf("via %q", got.via)
	}
}

// A batch whose reply was lost is sent again: nothing is stored twice, in no table.
func TestRetriedBatchCountsOnce(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	conn := connect(t, dsn)
	ld := hostileLogs()
	for range 3 {
		if err := e.consumeLogs(t.Context(), ld); err != nil {
			t.Fatal(err)
		}
		e.links.known.Purge() // as after a restart
	}
	if n := count(t, conn, "SELECT count() FROM events"); n != ld.LogRecordCount() {
		t.Errorf("%d rows of %d records", n, ld.LogRecordCount())
	}
	if n := count(t, conn, "SELECT toUInt64(sum(records)) FROM liveness"); n != ld.LogRecordCount() {
		t.Errorf("liveness counts %d", n)
	}
	if n := count(t, conn, "SELECT count() FROM states"); n != 1 {
		t.Errorf("%d states", n)
	}
	// The same records in a batch of another shape are stored again, and counted once by key.
	again := plog.NewLogs()
	ld.ResourceLogs().At(0).CopyTo(again.ResourceLogs().AppendEmpty())
	if err := e.consumeLogs(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if n := count(t, conn, "SELECT uniqExact(time, service, key) FROM events"); n != ld.LogRecordCount() {
		t.Errorf("%d keys of %d records", n, ld.LogRecordCount())
	}
}

func TestLinks(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	conn := connect(t, dsn)
	ld := plog.NewLogs()
	at := uint64(base.UnixNano())
	newLog(ld, "api", "", at, map[string]any{"allocation_id": "a-1", "workflow_id": "w-1"})
	newLog(ld, "api", "again", at+5, map[string]any{"allocation_id": "a-1", "workflow_id": "w-1"})
	newLog(ld, "provisioner", "", at, map[string]any{"event.name": "node.assigned", "node_id": "n-1", "allocation_id": "a-1"})
	newLog(ld, "provisioner", "", at, map[string]any{
		"event.name": "identity.binding", "subject_kind": "task", "subject_id": "t-1", "object_kind": "allocation", "object_id": "a-1",
		"valid_from": "2026-03-02T10:00:00Z",
	})
	newLog(ld, "provisioner", "refused", at, map[string]any{
		"event.name": "identity.binding", "subject_kind": "planet", "subject_id": "t-1", "object_kind": "allocation", "object_id": "a-1",
	})
	if err := e.consumeLogs(t.Context(), ld); err != nil {
		t.Fatal(err)
	}
	read := func(table string) (out []string) {
		rows, err := conn.Query(t.Context(), `SELECT concat(subject_kind, ':', subject_id, ' ', toString(type), ' ', object_kind, ':', object_id,
' ', toString(valid_from), ' ', toString(valid_to)) AS line FROM `+table+` FINAL ORDER BY line`)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			out = append(out, line)
		}
		return out
	}
	from := strconv.FormatInt(base.Truncate(time.Second).UnixNano(), 10)
	want := []string{
		"node:n-1 open allocation:a-1 " + strconv.FormatUint(at, 10) + " 0",
		"task:t-1 bind allocation:a-1 " + from + " 9223372036854775807",
		"workflow:w-1 seen allocation:a-1 0 0",
	}
	for _, table := range []string{"links", "links_by_object"} {
		if diff := cmp.Diff(want, read(table)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", table, diff)
		}
	}
	// Observed earlier by another record: the earlier observation is what stays.
	earlier := plog.NewLogs()
	newLog(earlier, "cli", "", at-uint64(time.Hour), map[string]any{"allocation_id": "a-1", "workflow_id": "w-1"})
	for range 2 {
		if err := e.consumeLogs(t.Context(), earlier); err != nil {
			t.Fatal(err)
		}
	}
	var service string
	var observed int64
	if err := conn.QueryRow(t.Context(), "SELECT service, toUnixTimestamp64Nano(observed_time) FROM links FINAL WHERE subject_kind = 'workflow'").Scan(&service, &observed); err != nil {
		t.Fatal(err)
	}
	if service != "api" || observed != int64(at)-int64(time.Hour)+int64(time.Second) {
		t.Errorf("told by %q, observed at %d", service, observed)
	}
}

// Links that could not be written are written with the next attempt.
func TestLinksSurviveAFailedWrite(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	conn := connect(t, dsn)
	ld := plog.NewLogs()
	newLog(ld, "api", "", uint64(base.UnixNano()), map[string]any{"allocation_id": "a-1", "workflow_id": "w-1"})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.consumeLogs(canceled, ld); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if err := e.consumeLogs(t.Context(), ld); err != nil {
		t.Fatal(err)
	}
	if n := count(t, conn, "SELECT count() FROM links"); n != 1 {
		t.Errorf("%d links", n)
	}
}

func TestLifecycle(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	conn := connect(t, dsn)
	ld := plog.NewLogs()
	at := func(minute int) uint64 { return uint64(base.Add(time.Duration(minute) * time.Minute).UnixNano()) }
	state := func(allocation, to string, minute int) {
		newLog(ld, "api", "", at(minute), map[string]any{"event.name": "allocation.state", "allocation_id": allocation, "to": to})
	}
	// Out of order, with repeats, and back to a state that it had before.
	state("a-1", "active", 4)
	state("a-1", "active", 1)
	state("a-1", "degraded", 2)
	state("a-1", "active", 3)
	newLog(ld, "api", "still there", at(9), map[string]any{"allocation_id": "a-1"})
	newLog(ld, "api", "no state", at(5), map[string]any{"allocation_id": "a-2"})
	newLog(ld, "clock", "gone wild", math.MaxInt64-uint64(time.Minute), nil)
	if err := e.consumeLogs(t.Context(), ld); err != nil {
		t.Fatal(err)
	}
	type line struct {
		State       string
		Since       *time.Time
		First, Last time.Time
	}
	got := map[string]line{}
	rows, err := conn.Query(t.Context(), "SELECT allocation_id, state, since, first_seen, last_seen FROM lifecycle")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		var l line
		if err := rows.Scan(&id, &l.State, &l.Since, &l.First, &l.Last); err != nil {
			t.Fatal(err)
		}
		got[id] = l
	}
	when := func(minute int) time.Time { return time.Unix(0, int64(at(minute))).UTC() }
	since := when(3)
	want := map[string]line{
		"a-1": {"active", &since, when(1), when(9)},
		"a-2": {"", nil, when(5), when(5)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := count(t, conn, "SELECT count() FROM liveness WHERE service = 'clock' AND minute > '2200-01-01'"); n != 1 {
		t.Errorf("a far-future time counts as a minute of today")
	}
}

func TestTruncate(t *testing.T) {
	shared := record.Attrs{{Key: "k", Value: strings.Repeat("é", 10)}}
	r := &record.Record{Body: strings.Repeat("a", 7) + "é", Resource: shared, Events: []record.SpanEvent{{Name: "123456789"}}}
	c := truncater{limit: 8}
	c.truncate(r)
	if c.cut != 3 {
		t.Errorf("%d values were cut", c.cut)
	}
	next := &record.Record{Resource: shared}
	if c.truncate(next); c.cut != 3 || !same(next.Resource, r.Resource) {
		t.Errorf("a resource was cut twice")
	}
	if r.Body != "aaaaaaa" || r.Resource[0].Value != "éééé" || r.Events[0].Name != "12345678" {
		t.Errorf("%+v", r)
	}
	if len(shared[0].Value) != 20 {
		t.Error("a resource that others share was cut too")
	}
}

func TestNotReadyIsRetryable(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.DSN = "http://127.0.0.1:1/faultline"
	e, err := newExporter(cfg, exportertest.NewNopSettings(Type))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatalf("a store that is down stops the start: %v", err)
	}
	if err := e.consumeLogs(t.Context(), hostileLogs()); !errors.Is(err, errNotReady) {
		t.Fatalf("error %v", err)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A row that the store objects to costs itself, not its batch.
func TestOneBadRow(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	tel := counting(t, e)
	conn := connect(t, dsn)
	if err := conn.Exec(t.Context(), "ALTER TABLE events ADD CONSTRAINT no_poison CHECK body != 'poison'"); err != nil {
		t.Fatal(err)
	}
	ld := plog.NewLogs()
	for i := range 100 {
		newLog(ld, "api", strconv.Itoa(i), uint64(base.UnixNano()), nil)
	}
	newLog(ld, "api", "poison", uint64(base.UnixNano()), nil)
	for range 2 {
		if err := e.consumeLogs(t.Context(), ld); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, conn, "SELECT count() FROM events"); n != 100 {
		t.Errorf("%d rows", n)
	}
	if n := counted(t, tel, "faultline_exporter_rows_dropped_total", "")[""]; n != 2 {
		t.Errorf("%d records counted as dropped, in two tries", n)
	}
	letGo(conn)
}

// letGo waits for the store's sessions: one of the embedded engine lets go of a failed insert's table with its next
// statement; until then the table cannot be dropped.
func letGo(conn driver.Conn) {
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() { _ = conn.Exec(context.Background(), "SELECT sleep(0.05)") })
	}
	wg.Wait()
}
