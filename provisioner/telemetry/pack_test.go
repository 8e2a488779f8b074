package telemetry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/semconv"
)

// What was packed is the same OTLP as what was not.
func TestUnpackedAsItWas(t *testing.T) {
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
		asEncoded(t, records)
	})
}

// A transaction that tells of many things repeats texts that lie far apart.
func TestPackOfManyRecords(t *testing.T) {
	says := (&Emitter{now: time.Now}).Source("provisioner")
	var records []Record
	for i := range 5 * lookBack {
		ctx := With(WithSpan(context.Background(), NewTrace()), semconv.AllocationID, NewID("a"), semconv.CorrelationID, "c-of-all")
		records = append(records, says.ComposeEvent(ctx, time.Now(), semconv.EventAllocationState, slog.String(semconv.NodeID, fmt.Sprintf("node-%d", i/2)), slog.String("pool", "pool-"+strconv.Itoa(i%3))))
	}
	asEncoded(t, records)
}

// asEncoded wants packed records to be the same OTLP as those that were not packed.
func asEncoded(t rapid.TB, records []Record) {
	t.Helper()
	got, want := Pack(records), encode(records)
	if got.Records != want.logs.LogRecordCount()+want.traces.SpanCount() {
		t.Fatal(got.Records)
	}
	logs, traces, err := Unpack(got)
	if err != nil {
		t.Fatal(err)
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

// A pack that an earlier version wrote is read by every later one.
func TestPackOfVersionOne(t *testing.T) {
	at := time.Unix(1_800_000_000, 5).UTC()
	s := &Source{service: "provisioner", emitter: &Emitter{now: func() time.Time { return at }}}
	ctx := With(WithSpan(context.Background(), SpanContext{Trace: [16]byte{1, 2}, Span: [8]byte{3}}), semconv.AllocationID, "a-1", semconv.CorrelationID, "c-77")
	event := s.ComposeEvent(ctx, at.Add(-time.Millisecond), semconv.EventAllocationState, slog.String(semconv.To, semconv.Requested), slog.String(semconv.Actor, "c-77"))
	event.log.attrs.event = "ev-0000"
	whole := s.ComposeWhole(ctx, "task provision", SpanContext{Trace: [16]byte{1, 2}, Span: [8]byte{4}}, SpanOf(ctx), SpanContext{}, at, at.Add(time.Second), "lost", slog.Int("attempt", 2), slog.Bool("ok", true))
	const want = "010105008af7a5bad29df1fa3180897a094501030102000000000000000000000000000003000000000000000511000c612d31190010632d37377900cd018101000241001c65762d303030300205000080a8d6b90701d50301020400000000000000000499020411000c612d31190002c5010104086f6b04"
	p := Pack([]Record{event, {}, whole})
	if got := hex.EncodeToString(p.Pack); got != want {
		t.Errorf("packed as\n%s, not as\n%s", got, want)
	}
	b, err := hex.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	logs, traces, err := Unpack(Parcel{Pack: b})
	if err != nil || logs.LogRecordCount() != 1 || traces.SpanCount() != 1 {
		t.Fatal(err)
	}
	body := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str()
	if span := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0); body != "allocation.state requested" || span.Name() != "task provision" || span.Status().Message() != "lost" {
		t.Error(body, span.Name(), span.Status().Message())
	}
}

// Bytes that are no pack are an error, never a panic, and take no more room than they have.
func FuzzUnpack(f *testing.F) {
	e := &Emitter{now: time.Now}
	f.Add(Pack([]Record{e.Source("db").ComposeEvent(context.Background(), time.Time{}, "n", slog.Float64("f", 1))}).Pack)
	f.Add([]byte{packVersion, packedLog, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _, _ = Unpack(Parcel{Pack: b})
	})
}

// BenchmarkPack packs what the smallest move tells.
func BenchmarkPack(b *testing.B) {
	e := &Emitter{now: time.Now}
	says, relay := e.Source("provisioner"), e.Source("outbox-relay")
	ctx := With(WithSpan(context.Background(), NewTrace()), semconv.CorrelationID, "c-1", semconv.AllocationID, "a-07")
	b.ReportAllocs()
	for b.Loop() {
		p := Pack([]Record{
			says.ComposeEvent(ctx, time.Time{}, semconv.EventAllocationState, slog.String(semconv.From, semconv.Active), slog.String(semconv.To, semconv.Degraded)),
			relay.ComposeEvent(With(ctx, semconv.OutboxID, "ob-0123456789abcdef"), time.Time{}, semconv.EventOutbox, slog.String(semconv.Subject, "allocation.degraded"), slog.String(semconv.To, semconv.Pending), slog.Int(semconv.AttemptCount, 0)),
		})
		b.SetBytes(int64(len(p.Pack)))
	}
}

func BenchmarkSpan(b *testing.B) {
	e, err := Open(Config{Flush: time.Hour, Batch: 1 << 20, Queue: 1 << 20}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	says := e.Source("db")
	ctx := With(WithSpan(context.Background(), NewTrace()), semconv.CorrelationID, "c-1", semconv.AllocationID, "a-07")
	b.ReportAllocs()
	for b.Loop() {
		_, span := says.Start(ctx, "update", Server, slog.String(semconv.DBSystem, "sqlite"), slog.String("db.namespace", "provisioner"), slog.String("db.query.summary", "update"))
		span.Set(slog.Int("db.operation.batch.size", 7))
		span.End()
	}
	e.pending = nil
	_ = e.Close(context.Background())
}
