package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Kinds of spans.
const (
	Internal = ptrace.SpanKindInternal
	Server   = ptrace.SpanKindServer
	Client   = ptrace.SpanKindClient
	Producer = ptrace.SpanKindProducer
	Consumer = ptrace.SpanKindConsumer
)

// Span is work in progress; it is emitted at End. Safe for use by several goroutines. A nil Span takes
// everything and emits nothing.
type Span struct {
	emitter *Emitter

	mu   sync.Mutex
	done bool
	rec  spanRecord
}

// Start begins a span below the one in ctx, or a new trace where there is none.
func (s *Emitter) Start(ctx context.Context, name string, kind ptrace.SpanKind, attrs ...slog.Attr) (context.Context, *Span) {
	if s == nil {
		return ctx, nil
	}
	parent := SpanOf(ctx)
	self := NewTrace()
	if parent.Valid() {
		self = parent.Child()
	}
	sp := &Span{emitter: s, rec: spanRecord{
		name: name, kind: kind, self: self, parent: parent, start: s.exporter.now(),
		attrs: attributes{ids: idsOf(ctx), own: append(make([]slog.Attr, 0, len(attrs)+2), attrs...)},
	}}
	return context.WithValue(WithSpan(ctx, self), currentKey{}, sp), sp
}

type currentKey struct{}

// Current is the span that the innermost Start on ctx began, nil where there was none: for attributes
// that are only known deep in the work.
func Current(ctx context.Context) *Span {
	sp, _ := ctx.Value(currentKey{}).(*Span)
	return sp
}

// ComposeSpan makes a span that has ended, and whose ids were made long ago, without emitting it: that of a workflow
// or a task, which may have begun before a restart. failure is the status message, "" for success. A nil Emitter makes
// the zero Record.
func (s *Emitter) ComposeSpan(ctx context.Context, name string, self, parent, link SpanContext, start, end time.Time, failure string, attrs ...slog.Attr) Record {
	if s == nil || !self.Valid() {
		return Record{}
	}
	return Record{emitter: s, span: &spanRecord{
		name: name, kind: Internal, self: self, parent: parent, link: link, start: start, end: end,
		failed: failure != "", message: failure, attrs: attributes{ids: idsOf(ctx), own: attrs},
	}}
}

// Set adds attributes, until End; a key that is there already takes the new value.
func (sp *Span) Set(attrs ...slog.Attr) {
	if sp == nil {
		return
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if !sp.done {
		sp.rec.attrs.set(attrs)
	}
}

// Link names a span of another trace that this one has to do with; the last one stays.
func (sp *Span) Link(to SpanContext) {
	if sp == nil {
		return
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.rec.link = to
}

// Fail marks the span as failed, with err's text and, where kind is not "", its error.type.
func (sp *Span) Fail(err error, kind string) {
	if sp == nil || err == nil {
		return
	}
	if kind != "" {
		sp.Set(slog.String(semconv.ErrorType, kind))
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.rec.failed, sp.rec.message = true, err.Error()
}

// End emits the span. Later calls do nothing.
func (sp *Span) End() {
	if sp == nil {
		return
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.done {
		return
	}
	sp.done = true
	sp.rec.end = sp.emitter.exporter.now()
	rec := sp.rec
	sp.emitter.exporter.take(Record{emitter: sp.emitter, span: &rec})
}
