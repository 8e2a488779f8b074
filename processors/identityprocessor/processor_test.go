package identityprocessor

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func at(minute int) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(noon.Add(time.Duration(minute) * time.Minute))
}

// bench is a processor, its telemetry and what came out of it.
type bench struct {
	t       *testing.T
	factory processor.Factory
	cfg     *Config
	set     processor.Settings
	tel     *componenttest.Telemetry
}

func newBench(t *testing.T) *bench {
	t.Helper()
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { _ = tel.Shutdown(t.Context()) })
	set := processortest.NewNopSettings(Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	return &bench{t: t, factory: NewFactory(), cfg: createDefaultConfig().(*Config), set: set, tel: tel}
}

// logs sends each batch through one processor and gives what came out of the last.
func (b *bench) logs(batches ...plog.Logs) plog.Logs {
	b.t.Helper()
	sink := new(consumertest.LogsSink)
	p, err := b.factory.CreateLogs(b.t.Context(), b.set, b.cfg, sink)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, ld := range batches {
		if err := p.ConsumeLogs(b.t.Context(), ld); err != nil {
			b.t.Fatal(err)
		}
	}
	all := sink.AllLogs()
	return all[len(all)-1]
}

// sum reads a counter, with or without regard to its attribute.
func (b *bench) sum(name, value string) int64 {
	b.t.Helper()
	m, err := b.tel.GetMetric(name)
	if err != nil {
		return 0
	}
	var n int64
	data, ok := m.Data.(metricdata.Sum[int64])
	if !ok {
		b.t.Fatalf("%s is %T", name, m.Data)
	}
	for _, p := range data.DataPoints {
		for _, kv := range p.Attributes.ToSlice() {
			if value == kv.Value.AsString() {
				n += p.Value
			}
		}
		if value == "" {
			n += p.Value
		}
	}
	return n
}

type attrs = map[string]any

func logs(records ...func(plog.ResourceLogs)) plog.Logs {
	ld := plog.NewLogs()
	for _, add := range records {
		add(ld.ResourceLogs().AppendEmpty())
	}
	return ld
}

func line(minute int, service string, a attrs) func(plog.ResourceLogs) {
	return func(rl plog.ResourceLogs) {
		rl.Resource().Attributes().PutStr("service.name", service)
		lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		lr.SetTimestamp(at(minute))
		_ = lr.Attributes().FromRaw(a)
	}
}

func nth(ld plog.Logs, i int) plog.LogRecord {
	return ld.ResourceLogs().At(i).ScopeLogs().At(0).LogRecords().At(0)
}

func TestStamp(t *testing.T) {
	assigned := line(0, "provisioner", attrs{"event.name": "node.assigned", "node_id": "n-1", "allocation_id": "a-1"})
	cases := []struct {
		name   string
		before []func(plog.ResourceLogs)
		in     attrs
		minute int
		want   attrs // what was added
	}{
		{"its own allocation", nil, attrs{"allocation_id": "a-1"}, 0, attrs{"identity_via": "explicit"}},
		{
			"a dotted name", nil, attrs{"allocation.id": "a-1", "request.id": "r-1"}, 0,
			attrs{"allocation_id": "a-1", "request_id": "r-1", "identity_via": "explicit", "identity_stamped": "allocation_id,request_id"},
		},
		{
			"a workflow learnt from another record",
			[]func(plog.ResourceLogs){line(0, "api", attrs{"allocation_id": "a-1", "workflow_id": "w-1"})},
			attrs{"workflow_id": "w-1"},
			5,
			attrs{"allocation_id": "a-1", "identity_via": "workflow", "identity_stamped": "allocation_id"},
		},
		{
			"a node at its time", []func(plog.ResourceLogs){assigned}, attrs{"node_id": "n-1"}, 5,
			attrs{"allocation_id": "a-1", "identity_via": "node", "identity_stamped": "allocation_id"},
		},
		{"a node before its time", []func(plog.ResourceLogs){assigned}, attrs{"node_id": "n-1"}, -5, attrs{}},
		{"nobody's", nil, attrs{"node_id": "n-1"}, 0, attrs{}},
		{
			"two that disagree",
			[]func(plog.ResourceLogs){line(0, "api", attrs{"allocation_id": "a-2", "workflow_id": "w-2"})},
			attrs{"allocation_id": "a-1", "workflow_id": "w-2"},
			0,
			nil, // see below
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			in := logs(line(c.minute, "kernel", c.in))
			before := contents(in)
			out := b.logs(append(batch(c.before), in)...)
			got := nth(out, 0).Attributes().AsRaw()
			for k, v := range c.in {
				if got[k] != v {
					t.Errorf("%s was %v, is %v", k, v, got[k])
				}
				delete(got, k)
			}
			if c.want != nil {
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("added (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(before, contents(out)); diff != "" {
				t.Errorf("the record is not the same one any more:\n%s", diff)
			}
		})
	}
}

func batch(records []func(plog.ResourceLogs)) []plog.Logs {
	if len(records) == 0 {
		return nil
	}
	return []plog.Logs{logs(records...)}
}

// contents are the keys of the records: stamping must not change them.
func contents(ld plog.Logs) (out []string) {
	otlp.Logs(ld, func(r *record.Record) bool { out = append(out, r.Key()+r.Content()); return true })
	return out
}

func TestOrderWithinABatch(t *testing.T) {
	b := newBench(t)
	out := b.logs(logs(
		line(1, "worker", attrs{"workflow_id": "w-1"}),
		line(0, "api", attrs{"workflow_id": "w-1", "allocation_id": "a-1"}),
	))
	if got, _ := nth(out, 0).Attributes().Get("allocation_id"); got.Str() != "a-1" {
		t.Fatalf("the first record of the batch: %v", nth(out, 0).Attributes().AsRaw())
	}
}

func TestResourceIsNotOverwritten(t *testing.T) {
	b := newBench(t)
	ld := logs(line(0, "node-agent", attrs{}))
	ld.ResourceLogs().At(0).Resource().Attributes().PutStr("allocation_id", "a-1")
	out := b.logs(ld)
	if diff := cmp.Diff(attrs{}, nth(out, 0).Attributes().AsRaw()); diff != "" {
		t.Error(diff)
	}
	want := attrs{"service.name": "node-agent", "allocation_id": "a-1", "identity_via": "explicit"} // said once, for all of it
	if diff := cmp.Diff(want, out.ResourceLogs().At(0).Resource().Attributes().AsRaw()); diff != "" {
		t.Error(diff)
	}
}

// An agent has stamped it before: the gateway adds to the list.
func TestStampedTwice(t *testing.T) {
	b := newBench(t)
	out := b.logs(
		logs(line(0, "api", attrs{"workflow_id": "w-1", "allocation_id": "a-1"})),
		logs(line(0, "api", attrs{"workflow_id": "w-1", "node_id": "n-1", "identity_stamped": "node_id"})),
	)
	want := attrs{"workflow_id": "w-1", "node_id": "n-1", "allocation_id": "a-1", "identity_via": "workflow", "identity_stamped": "node_id,allocation_id"}
	if diff := cmp.Diff(want, nth(out, 0).Attributes().AsRaw()); diff != "" {
		t.Error(diff)
	}
}

func TestConflict(t *testing.T) {
	b := newBench(t)
	out := b.logs(
		logs(line(0, "api", attrs{"allocation_id": "a-2", "workflow_id": "w-2", "request_id": "r-2"})),
		logs(line(0, "api", attrs{"allocation_id": "a-2", "workflow_id": "w-2", "request_id": "r-3"})),
		logs(line(0, "api", attrs{"identity.unused": "", "allocation_id": "a-1", "workflow_id": "w-1"}),
			line(0, "api", attrs{"event.name": "identity.binding", "subject_kind": "workflow", "subject_id": "w-9", "object_kind": "allocation", "object_id": "a-9"}),
			line(0, "api", attrs{"allocation_id": "a-1", "workflow_id": "w-9"})),
	)
	text, _ := nth(out, 2).Attributes().Get("identity_conflict")
	if text.Str() != "allocation a-1 is a-1, workflow w-9 is a-9" {
		t.Errorf("conflict %q", text.Str())
	}
	if n := b.sum("faultline_identity_conflicts_total", ""); n != 1 {
		t.Errorf("%d conflicts", n)
	}
}

func TestPipelinesShareWhatTheyLearn(t *testing.T) {
	b := newBench(t)
	traces, err := b.factory.CreateTraces(t.Context(), b.set, b.cfg, consumertest.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	td := ptrace.NewTraces()
	s := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	s.SetTraceID(pcommon.TraceID{1})
	s.SetSpanID(pcommon.SpanID{1})
	s.Attributes().PutStr("allocation_id", "a-1")
	if err := traces.ConsumeTraces(t.Context(), td); err != nil {
		t.Fatal(err)
	}
	ld := logs(line(0, "api", attrs{}))
	nth(ld, 0).SetTraceID(pcommon.TraceID{1})
	if got := nth(b.logs(ld), 0).Attributes().AsRaw(); got["allocation_id"] != "a-1" || got["identity_via"] != "trace" {
		t.Errorf("%v", got)
	}
	if err := traces.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestMetricResources(t *testing.T) {
	b := newBench(t)
	b.logs(logs(
		line(0, "provisioner", attrs{"event.name": "node.assigned", "node_id": "n-1", "allocation_id": "a-1"}),
		line(10, "provisioner", attrs{"event.name": "node.unassigned", "node_id": "n-1", "allocation_id": "a-1"}),
	))
	sink := new(consumertest.MetricsSink)
	p, err := b.factory.CreateMetrics(t.Context(), b.set, b.cfg, sink)
	if err != nil {
		t.Fatal(err)
	}
	md := pmetric.NewMetrics()
	for _, minutes := range [][]int{{1, 5}, {5, 15}, {}} {
		rm := md.ResourceMetrics().AppendEmpty()
		rm.Resource().Attributes().PutStr("node_id", "n-1")
		points := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty().SetEmptyGauge().DataPoints()
		for _, m := range minutes {
			points.AppendEmpty().SetTimestamp(at(m))
		}
	}
	if err := p.ConsumeMetrics(t.Context(), md); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a-1", "", ""} {
		got, _ := sink.AllMetrics()[0].ResourceMetrics().At(i).Resource().Attributes().Get("allocation_id")
		if (got == pcommon.Value{}) && want == "" {
			continue
		}
		if got.Str() != want {
			t.Errorf("resource %d: allocation %q, want %q", i, got.Str(), want)
		}
	}
}

func TestBadInput(t *testing.T) {
	b := newBench(t)
	ld := logs(
		line(0, "api", attrs{"workflow_id": strings.Repeat("w", 10_000)}),
		line(0, "api", attrs{"workflow_id": "line\nbreak"}),
		line(0, "api", attrs{"event.name": "sun.exploded"}),
		line(0, "api", attrs{"event.name": "identity.binding", "subject_kind": "planet", "subject_id": "p", "object_kind": "allocation", "object_id": "a"}),
		line(0, "api", attrs{
			"event.name": "identity.binding", "subject_kind": "task", "subject_id": "t", "object_kind": "allocation", "object_id": "a",
			"valid_from": "2026-03-02T12:00:00Z", "valid_to": "2026-03-02T11:00:00Z",
		}),
		line(0, "api", attrs{
			"event.name": "identity.binding", "subject_kind": "task", "subject_id": "t", "object_kind": "allocation", "object_id": "a",
			"valid_from": "0001-01-01T00:00:00Z",
		}),
		line(0, "future", attrs{}), line(0, "overflow", attrs{}), line(0, "past", attrs{}), line(0, "never", attrs{}),
		line(0, "api", attrs{"allocation_id": "a-1"}),
	)
	nth(ld, 6).SetTimestamp(pcommon.NewTimestampFromTime(time.Now().Add(48 * time.Hour)))
	nth(ld, 7).SetTimestamp(math.MaxUint64)
	nth(ld, 8).SetTimestamp(1)
	nth(ld, 9).SetTimestamp(0)
	out := b.logs(ld)
	if n := out.LogRecordCount(); n != 11 {
		t.Fatalf("%d records came out", n)
	}
	if got, _ := nth(out, 10).Attributes().Get("identity_via"); got.Str() != "explicit" {
		t.Error("a neighbour of bad input was not resolved")
	}
	if nth(out, 9).ObservedTimestamp() == 0 {
		t.Error("observed time is not set")
	}
	for reason, want := range map[string]int64{badID: 2, badEvent: 1, badTimeFuture: 2, badTimePast: 1, badTimeMissing: 1} {
		if n := b.sum("faultline_identity_bad_input_total", reason); n != want {
			t.Errorf("%s counted %d times, want %d", reason, n, want)
		}
	}
	for reason, want := range map[string]int64{"kind": 1, "interval": 1, "time": 1} {
		if n := b.sum("faultline_identity_links_refused_total", reason); n != want {
			t.Errorf("%s counted %d times, want %d", reason, n, want)
		}
	}
	if n := b.sum("faultline_identity_unresolved_total", "future"); n != 1 {
		t.Errorf("unresolved of service future: %d", n)
	}
	if n := b.sum("faultline_identity_resolved_total", "explicit"); n != 1 {
		t.Errorf("resolved: %d", n)
	}
}

func TestServiceLabelIsBounded(t *testing.T) {
	tel := &telemetry{services: map[string]bool{}}
	for i := range 10 * maxServices {
		tel.serviceLabel(strings.Repeat("x", i%300) + string(rune('a'+i%26)))
	}
	if len(tel.services) > maxServices {
		t.Errorf("%d services", len(tel.services))
	}
}
