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

// Carrier is the context of some work as two texts, for a database row or a message.
type Carrier struct {
	Traceparent string
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
	return Carrier{SpanOf(ctx).String(), strings.Join(members, ",")}
}

// Resume puts a carrier back into a context: its identifiers, and its span as the current one.
func (c Carrier) Resume(ctx context.Context) context.Context {
	if span := ParseTraceparent(c.Traceparent); span.Valid() {
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
	return ctx
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
	set(semconv.HeaderBaggage, c.Baggage)
	set(semconv.HeaderCorrelationID, ID(ctx, semconv.CorrelationID))
	set(semconv.HeaderRequestID, ID(ctx, semconv.RequestID))
}

// Extract reads the context of a request from its headers. The two plain headers win over baggage.
func Extract(ctx context.Context, h http.Header) context.Context {
	ctx = Carrier{h.Get("traceparent"), h.Get(semconv.HeaderBaggage)}.Resume(ctx)
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
