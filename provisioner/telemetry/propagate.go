package telemetry

import (
	"context"
	"net/http"
	"net/url"
	"strings"

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
	if foreign := Foreign(ctx); foreign != "" {
		members = append(members, foreign)
	}
	span := SpanOf(ctx)
	return Carrier{span.String(), span.State, strings.Join(members, ",")}
}

// Resume puts a carrier back into a context: its identifiers, its span as the current one, and what is
// handed on without being read: members of baggage that are not ours, and the trace state.
func (c Carrier) Resume(ctx context.Context) context.Context {
	if span := ParseTraceparent(c.Traceparent); span.Valid() {
		span.State = statesOf(c.Tracestate)
		ctx = WithSpan(ctx, span)
	}
	for member := range strings.SplitSeq(c.Baggage, ",") {
		member, _, _ = strings.Cut(member, ";")
		key, value, ok := strings.Cut(strings.TrimSpace(member), "=")
		if !ok || !isCarried(strings.TrimSpace(key)) {
			continue
		}
		if plain, err := url.PathUnescape(strings.TrimSpace(value)); err == nil && PlausibleID(plain) {
			ctx = With(ctx, strings.TrimSpace(key), plain)
		}
	}
	return WithForeign(ctx, c.Baggage)
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

// PlausibleID says whether text can be an identifier: 1 to 256 printable bytes without blanks, commas
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
