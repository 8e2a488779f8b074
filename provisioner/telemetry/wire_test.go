package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"pgregory.net/rapid"
)

// What is packed by hand reads as what pdata makes of the same records.
func TestPackedAsPdataPacks(t *testing.T) {
	e := &Emitter{now: time.Now}
	sources := []*Source{e.Source("provisioner"), e.Source("db", slog.String("host.name", "h-1"), slog.Int("n", 0)), e.Source("")}
	attr := rapid.Custom(func(t *rapid.T) slog.Attr {
		key := rapid.StringMatching(`[a-z_.]{1,20}`).Draw(t, "key")
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return slog.Int64(key, rapid.Int64().Draw(t, "int"))
		case 1:
			return slog.Bool(key, rapid.Bool().Draw(t, "bool"))
		case 2:
			return slog.Float64(key, rapid.Float64().Draw(t, "float"))
		case 3:
			return slog.Time(key, time.Unix(0, rapid.Int64Range(0, 1<<60).Draw(t, "time")))
		case 4:
			return slog.Uint64(key, rapid.Uint64().Draw(t, "uint"))
		}
		return slog.String(key, rapid.String().Draw(t, "text"))
	})
	rapid.Check(t, func(t *rapid.T) {
		var records []Record
		for range rapid.IntRange(0, 6).Draw(t, "records") {
			s := rapid.SampledFrom(sources).Draw(t, "source")
			ctx := context.Background()
			if rapid.Bool().Draw(t, "traced") {
				ctx = WithSpan(ctx, NewTrace())
			}
			attrs := rapid.SliceOfN(attr, 0, 5).Draw(t, "attrs")
			if rapid.Bool().Draw(t, "span") {
				failure, link := "", SpanContext{}
				if rapid.Bool().Draw(t, "failed") {
					failure = errors.New("no").Error()
				}
				if rapid.Bool().Draw(t, "linked") {
					link = NewTrace()
				}
				records = append(records, s.ComposeWhole(ctx, rapid.String().Draw(t, "name"), NewTrace(), SpanOf(ctx), link, time.Now(), time.Now(), failure, attrs...))
			} else {
				records = append(records, s.ComposeEvent(ctx, time.Now(), rapid.String().Draw(t, "name"), attrs...))
			}
		}
		got, want := Pack(records), encode(records)
		if got.Records != want.logs.LogRecordCount()+want.traces.SpanCount() {
			t.Fatal(got.Records)
		}
		logs, traces := plogotlp.NewExportRequest(), ptraceotlp.NewExportRequest()
		if err := errors.Join(logs.UnmarshalProto(got.Logs), traces.UnmarshalProto(got.Traces)); err != nil {
			t.Fatal(err)
		}
		same := func(a, b []byte, err ...error) {
			if errors.Join(err...) != nil || !cmp.Equal(string(a), string(b)) {
				t.Fatalf("%s\n%s", a, b)
			}
		}
		a, err1 := (&plog.JSONMarshaler{}).MarshalLogs(logs.Logs())
		b, err2 := (&plog.JSONMarshaler{}).MarshalLogs(want.logs)
		same(a, b, err1, err2)
		a, err1 = (&ptrace.JSONMarshaler{}).MarshalTraces(traces.Traces())
		b, err2 = (&ptrace.JSONMarshaler{}).MarshalTraces(want.traces)
		same(a, b, err1, err2)
	})
}
