package telemetry

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/faultline-io/faultline/internal/semconv"
)

// maxIDBytes bounds an identifier that is taken from outside; longer ones are ignored.
const maxIDBytes = 256

// carried are the identifiers that cross a process border. Node, claim and boot are facts of one hop.
var carried = [...]string{semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID, semconv.TaskID}

// Carrier is the context of some work as texts, for a database row or a message.
type Carrier struct {
	Traceparent string
	Tracestate  string
	Baggage     string
}

// Carry takes the carrier out of ctx.
func Carry(ctx context.Context) Carrier {
	var members []string
	for _, key := range carried {
		if v := ID(ctx, key); v != "" {
			members = append(members, key+"="+url.PathEscape(v))
		}
	}
	if remote := RemoteBaggage(ctx); remote != "" {
		members = append(members, remote)
	}
	span := SpanOf(ctx)
	return Carrier{span.String(), span.State, strings.Join(members, ",")}
}

// span reads the two headers of W3C trace context. A trace state that is malformed, or too long to be handed on, is
// left out.
func (c Carrier) span() SpanContext {
	headers := propagation.MapCarrier{"traceparent": c.Traceparent}
	if c.Tracestate != "" && len(c.Tracestate) <= stateBytes {
		headers["tracestate"] = c.Tracestate
	}
	s := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), headers))
	return SpanContext{pcommon.TraceID(s.TraceID()), pcommon.SpanID(s.SpanID()), s.TraceState().String()}
}

// Resume puts a carrier back into a context: its identifiers, its span as the current one, and what is
// handed on without being read: members of baggage that are not ours, and the trace state.
func (c Carrier) Resume(ctx context.Context) context.Context {
	if span := c.span(); span.Valid() {
		ctx = WithSpan(ctx, span)
	}
	for text := range strings.SplitSeq(c.Baggage, ",") {
		if m, ok := parseMember(text); ok && isCarried(m.Key()) && PlausibleID(m.Value()) {
			ctx = With(ctx, m.Key(), m.Value())
		}
	}
	return WithRemoteBaggage(ctx, c.Baggage)
}

// Inject writes the context of a request into its headers.
func Inject(ctx context.Context, h http.Header) {
	c := Carry(ctx)
	set := func(key, value string) {
		if value != "" {
			h.Set(key, value)
		}
	}
	set("traceparent", c.Traceparent)
	set("tracestate", c.Tracestate)
	set(semconv.HeaderBaggage, c.Baggage)
	set(semconv.HeaderCorrelationID, ID(ctx, semconv.CorrelationID))
	set(semconv.HeaderRequestID, ID(ctx, semconv.RequestID))
}

// Extract reads the context of a request from its headers. The two plain headers win over baggage.
func Extract(ctx context.Context, h http.Header) context.Context {
	ctx = Carrier{h.Get("traceparent"), strings.Join(h.Values("tracestate"), ","), strings.Join(h.Values(semconv.HeaderBaggage), ",")}.Resume(ctx)
	if v := h.Get(semconv.HeaderCorrelationID); PlausibleID(v) {
		ctx = With(ctx, semconv.CorrelationID, v)
	}
	if v := h.Get(semconv.HeaderRequestID); PlausibleID(v) {
		ctx = With(ctx, semconv.RequestID, v)
	}
	return ctx
}

func isCarried(key string) bool {
	for _, k := range carried {
		if k == key {
			return true
		}
	}
	return false
}

// PlausibleID reports whether text can be an identifier: 1 to 256 printable bytes without blanks, commas
// or semicolons, so that it survives every header it travels in.
func PlausibleID(text string) bool {
	if text == "" || len(text) > maxIDBytes {
		return false
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; c <= ' ' || c >= 0x7f || c == ',' || c == ';' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
