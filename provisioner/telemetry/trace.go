package telemetry

import (
	"context"
	"crypto/rand"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// SpanContext names one span of one trace. The zero value names none.
type SpanContext struct {
	Trace pcommon.TraceID
	Span  pcommon.SpanID
	State string // W3C tracestate: what other tracers keep in the trace, handed on as it came
}

type spanKey struct{}

// NewTrace names the first span of a new trace.
func NewTrace() SpanContext {
	var c SpanContext
	_, _ = rand.Read(c.Trace[:])
	return c.Child()
}

// Child names a new span of the same trace.
func (c SpanContext) Child() SpanContext {
	_, _ = rand.Read(c.Span[:])
	return c
}

// Valid reports whether c names a span.
func (c SpanContext) Valid() bool { return !c.Trace.IsEmpty() && !c.Span.IsEmpty() }

// String is the W3C traceparent, "" for the zero value.
func (c SpanContext) String() string {
	if !c.Valid() {
		return ""
	}
	return "00-" + c.Trace.String() + "-" + c.Span.String() + "-01"
}

// ParseTraceparent reads a W3C traceparent; what isn't one gives the zero value.
func ParseTraceparent(text string) SpanContext { return Carrier{Traceparent: text}.span() }

// WithSpan makes c the span of the work that ctx stands for.
func WithSpan(ctx context.Context, c SpanContext) context.Context {
	return context.WithValue(ctx, spanKey{}, c)
}

// SpanOf is the span of the work at hand, zero where there is none.
func SpanOf(ctx context.Context) SpanContext {
	c, _ := ctx.Value(spanKey{}).(SpanContext)
	return c
}

// Untraced is ctx without a span: for polls, whose every round would be noise in a trace.
func Untraced(ctx context.Context) context.Context { return WithSpan(ctx, SpanContext{}) }
