package clickhouseexporter

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// counted gives a counter's value by its label, "" where it has none.
func counted(t *testing.T, tel *componenttest.Telemetry, name, label string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	m, err := tel.GetMetric(name)
	if err != nil {
		return out // nothing was counted yet
	}
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		v, _ := p.Attributes.Value(attribute.Key(label))
		out[v.AsString()] += p.Value
	}
	return out
}

// counting makes the exporter count where a test can read it.
func counting(t *testing.T, e *chExporter) *componenttest.Telemetry {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { _ = tel.Shutdown(context.Background()) })
	var err error
	if e.metrics, err = newMetrics(tel.NewTelemetrySettings()); err != nil {
		t.Fatal(err)
	}
	e.store.metrics = e.metrics
	return tel
}

// The rules for bad input, as the README tells them: what is sent, what the store gives back, what is counted.
func TestBadInput(t *testing.T) {
	const (
		last = "2262-04-11T23:47:16.854775807Z"
		at   = uint64(1_772_445_600_000_000_000) // 2026-03-02T10:00:00Z
	)
	many := map[string]any{}
	for i := range 5000 {
		many["attribute-"+strconv.Itoa(i)] = "v" + strconv.Itoa(i)
	}
	cases := []struct {
		name string
		say  func(plog.LogRecord)
		get  func(row) any
		want any
	}{
		{"later than 2262", func(l plog.LogRecord) { l.SetTimestamp(math.MaxInt64 + 1) }, func(r row) any { return time.Unix(0, r.Time).UTC().Format(time.RFC3339Nano) }, last},
		{"the year 1895, as a negative number", func(l plog.LogRecord) { l.SetTimestamp(1<<64 - 75*365*86400*1e9) },
			func(r row) any { return time.Unix(0, r.Time).UTC().Format(time.RFC3339Nano) }, last},
		{"both times", func(l plog.LogRecord) { l.SetTimestamp(math.MaxUint64); l.SetObservedTimestamp(math.MaxUint64) },
			func(r row) any { return []int64{r.Time, r.Observed} }, []int64{math.MaxInt64, math.MaxInt64}},
		{"no time", func(l plog.LogRecord) { l.SetTimestamp(0) }, func(r row) any { return r.Time }, int64(at)},
		{"no time at all", func(l plog.LogRecord) { l.SetTimestamp(0); l.SetObservedTimestamp(0) }, func(r row) any { return r.Time }, int64(0)},
		{"10 MB", func(l plog.LogRecord) { l.Body().SetStr(strings.Repeat("b", 10<<20)) }, func(r row) any { return len(r.Body) == 10<<20 && strings.Trim(r.Body, "b") == "" }, true},
		{"17 MB, cut at a character", func(l plog.LogRecord) { l.Body().SetStr("x" + strings.Repeat("é", 17<<19)) },
			func(r row) any { return len(r.Body) == 16<<20-1 && strings.Trim(r.Body[1:], "é") == "" }, true},
		{"5,000 attributes", func(l plog.LogRecord) { _ = l.Attributes().FromRaw(many) }, func(r row) any {
			v, _ := r.Attrs.Get("attribute-4999")
			return []any{len(r.Attrs), v}
		}, []any{5000, "v4999"}},
		{"NUL", func(l plog.LogRecord) { l.Body().SetStr("a\x00b"); l.Attributes().PutStr("k\x00", "\x00v") },
			func(r row) any { v, _ := r.Attrs.Get("k\x00"); return []string{r.Body, v} }, []string{"a\x00b", "\x00v"}},
		{"no UTF-8 in a body", func(l plog.LogRecord) { l.Body().SetStr("a\xff\xfeb") }, func(r row) any { return r.Body }, "a\uFFFDb"},
		{"no UTF-8 in a key and a value", func(l plog.LogRecord) { l.Attributes().PutStr("k\xff", "\xc3v") }, func(r row) any { return r.Attrs.Map() }, map[string]string{"k\uFFFD": "\uFFFDv"}},
		{"NaN in a map", func(l plog.LogRecord) {
			_ = l.Attributes().FromRaw(map[string]any{"m": map[string]any{"n": math.NaN()}})
		},
			func(r row) any { return r.Attrs.Map() }, map[string]string{"m": `{"n":"NaN"}`}},
		{"empty identifiers", func(l plog.LogRecord) { l.Attributes().PutStr("task_id", ""); l.SetTraceID(pcommon.TraceID{}) },
			func(r row) any { return []any{len(r.keys), r.TraceID, r.Attrs.Map()} }, []any{0, "", map[string]string{"task_id": ""}}},
		{"an identifier of 513 bytes", func(l plog.LogRecord) {
			l.Attributes().PutStr("workflow_id", strings.Repeat("w", 513))
			l.Attributes().PutStr("node_id", "n-1")
		},
			func(r row) any { return []any{r.keys, r.ids, len(r.Attrs.Map()["workflow_id"])} }, []any{[]string{"node:n-1"}, map[string]string{"node_id": "n-1"}, 513}},
		{"an identifier with a line break", func(l plog.LogRecord) { l.Attributes().PutStr("allocation_id", "a-1\na-2") },
			func(r row) any { return []any{len(r.keys), r.Attrs.Map()["allocation_id"]} }, []any{0, "a-1\na-2"}},
		{"severity that nobody knows", func(l plog.LogRecord) { l.SetSeverityNumber(-2_000_000_000) }, func(r row) any { return r.Severity }, -2_000_000_000},
		{"good", func(plog.LogRecord) {}, func(r row) any { return r.Body }, "good"},
	}
	ld := plog.NewLogs()
	for _, c := range cases {
		lr := newLog(ld, c.name, c.name, at, nil)
		lr.SetObservedTimestamp(pcommon.Timestamp(at))
		c.say(lr)
	}
	// Two records of one bad resource: it counts once.
	shared := ld.ResourceLogs().AppendEmpty()
	shared.Resource().Attributes().PutStr("service.name", "shared \xff")
	shared.Resource().Attributes().PutStr("node_id", strings.Repeat("n", 513))
	shared.Resource().Attributes().PutStr("long", strings.Repeat("l", 16<<20+1))
	for i := range 2 {
		lr := shared.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		lr.Body().SetStr("shared " + strconv.Itoa(i))
		lr.SetTimestamp(pcommon.Timestamp(at))
	}

	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	tel := counting(t, e)
	types := e.store.types.Swap(nil) // as if the store were not there yet: tries count nothing
	for range 3 {
		if err := e.consumeLogs(t.Context(), ld); err == nil {
			t.Fatal("stored without a store")
		}
	}
	e.store.types.Store(types)
	if err := e.consumeLogs(t.Context(), ld); err != nil {
		t.Fatal(err)
	}

	got := map[string]row{}
	for _, r := range readAll(t, connect(t, dsn)) {
		got[r.Service] = r
		if r.Service == "shared \uFFFD" && len(r.Resource.Map()["long"]) != 16<<20 {
			t.Errorf("%s: a resource's value of %d bytes", r.Body, len(r.Resource.Map()["long"]))
		}
	}
	for _, c := range cases {
		r, ok := got[c.name]
		if !ok {
			t.Errorf("%s: not stored", c.name)
			continue
		}
		if diff := cmp.Diff(c.want, c.get(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", c.name, diff)
		}
	}
	for _, c := range []struct {
		metric, label string
		want          map[string]int64
	}{
		{"faultline_exporter_rows_total", "", map[string]int64{"": int64(len(cases) + 2)}},
		{"faultline_exporter_values_clipped_total", "reason", map[string]int64{"time": 4, "utf8": 4, "number": 1, "length": 2}},
		{"faultline_exporter_identifiers_refused_total", "", map[string]int64{"": 3}},
		{"faultline_exporter_rows_dropped_total", "", map[string]int64{}},
	} {
		if diff := cmp.Diff(c.want, counted(t, tel, c.metric, c.label)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.metric, diff)
		}
	}
}
