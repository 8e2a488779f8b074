package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/s2"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/semconv"
)

// What was kept for a while is the same OTLP as what is sent at once, however many batches it was kept in.
func TestDecodedAsItWas(t *testing.T) {
	e := &Exporter{now: time.Now}
	sources := []*Emitter{e.Emitter("provisioner"), e.Emitter("db", slog.String("host.name", "h-1"), slog.Int("n", 0)), e.Emitter("")}
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
				records = append(records, s.ComposeSpan(ctx, rapid.String().Draw(t, "name"), NewTrace(), SpanOf(ctx), link, time.Now(), time.Now(), failure, attrs...))
			} else {
				records = append(records, s.ComposeEvent(ctx, time.Now(), rapid.String().Draw(t, "name"), attrs...))
			}
		}
		asSentAtOnce(t, records, rapid.IntRange(0, len(records)).Draw(t, "cut"))
	})
}

func TestDecodeOfManyRecords(t *testing.T) {
	source := (&Exporter{now: time.Now}).Emitter("provisioner")
	var records []Record
	for i := range 320 {
		ctx := With(WithSpan(context.Background(), NewTrace()), semconv.AllocationID, NewID("a"), semconv.CorrelationID, "c-of-all")
		records = append(records, source.ComposeEvent(ctx, time.Now(), semconv.EventAllocationState, slog.String(semconv.NodeID, fmt.Sprintf("node-%d", i/2)), slog.String("pool", "pool-"+strconv.Itoa(i%3))))
	}
	asSentAtOnce(t, records, 100)
}

// asSentAtOnce wants records that were kept in two batches to be the same OTLP as those that were not kept.
func asSentAtOnce(t rapid.TB, records []Record, cut int) {
	t.Helper()
	want := encode(records)
	first, err1 := Encode(append([]Record{{}}, records[:cut]...))
	second, err2 := Encode(records[cut:])
	logs, traces, err3 := Decode(first, second)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if n := first.Records + second.Records; n != len(records) || n != want.logs.LogRecordCount()+want.traces.SpanCount() {
		t.Fatalf("%d records, not %d", n, len(records))
	}
	same := func(a, b []byte, err ...error) {
		if errors.Join(err...) != nil || !cmp.Equal(string(a), string(b)) {
			t.Fatalf("%s\n%s", a, b)
		}
	}
	a, err1 := (&plog.JSONMarshaler{}).MarshalLogs(logs)
	b, err2 := (&plog.JSONMarshaler{}).MarshalLogs(want.logs)
	same(a, b, err1, err2)
	a, err1 = (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	b, err2 = (&ptrace.JSONMarshaler{}).MarshalTraces(want.traces)
	same(a, b, err1, err2)
}

// Bytes that are no batch are an error, never a panic, and take no more room than is allowed.
func FuzzDecode(f *testing.F) {
	e := &Exporter{now: time.Now}
	one, err := Encode([]Record{e.Emitter("db").ComposeEvent(context.Background(), time.Time{}, "n", slog.Float64("f", 1))})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one.Logs)
	f.Add(s2.Encode(nil, []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _, _ = Decode(EncodedBatch{Logs: b})
		_, _, _ = Decode(EncodedBatch{Traces: b})
	})
}

// BenchmarkEncode encodes what the smallest move tells.
func BenchmarkEncode(b *testing.B) {
	e := &Exporter{now: time.Now}
	source, relay := e.Emitter("provisioner"), e.Emitter("outbox-relay")
	ctx := With(WithSpan(context.Background(), NewTrace()), semconv.CorrelationID, "c-1", semconv.AllocationID, "a-07")
	b.ReportAllocs()
	kept := 0
	for b.Loop() {
		batch, err := Encode([]Record{
			source.ComposeEvent(ctx, time.Time{}, semconv.EventAllocationState, slog.String(semconv.From, semconv.Active), slog.String(semconv.To, semconv.Degraded)),
			relay.ComposeEvent(With(ctx, semconv.OutboxID, "ob-0123456789abcdef"), time.Time{}, semconv.EventOutbox, slog.String(semconv.Subject, "allocation.degraded"), slog.String(semconv.To, semconv.Pending), slog.Int(semconv.AttemptCount, 0)),
		})
		if err != nil {
			b.Fatal(err)
		}
		kept = len(batch.Logs)
	}
	b.ReportMetric(float64(kept), "bytes")
}

func BenchmarkSpan(b *testing.B) {
	e, err := Open(Config{Flush: time.Hour, Batch: 1 << 20, Queue: 1 << 20}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	source := e.Emitter("db")
	ctx := With(WithSpan(context.Background(), NewTrace()), semconv.CorrelationID, "c-1", semconv.AllocationID, "a-07")
	b.ReportAllocs()
	for b.Loop() {
		_, span := source.Start(ctx, "update", Server, slog.String(semconv.DBSystem, "sqlite"), slog.String("db.namespace", "provisioner"), slog.String("db.query.summary", "update"))
		span.Set(slog.Int("db.operation.batch.size", 7))
		span.End()
	}
	e.pending = nil
	_ = e.Close(context.Background())
}
