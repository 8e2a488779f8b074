package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/baggage"
)

// What is handed on for others is bounded: it travels in rows and headers. W3C asks for 64 members of baggage
// and 512 bytes of trace state at least.
const (
	remoteMembers = 64
	remoteBytes   = 4096
	stateBytes    = 512
)

type remoteBaggageKey struct{}

// RemoteBaggage is the baggage of ctx that is not ours, as it came; "" for none.
func RemoteBaggage(ctx context.Context) string {
	members, _ := ctx.Value(remoteBaggageKey{}).(string)
	return members
}

// WithRemoteBaggage hands on those members of a baggage header that are not ours. Members that are malformed, or
// beyond the bounds, are left out: a request that carries them would not be sent. Members stay as they came and in
// their order; a baggage.Baggage has neither.
func WithRemoteBaggage(ctx context.Context, header string) context.Context {
	var kept []string
	bytes := 0
	for text := range strings.SplitSeq(header, ",") {
		m, ok := parseMember(text)
		if !ok || isCarried(m.Key()) {
			continue
		}
		text = strings.TrimSpace(text)
		if bytes += len(text) + 1; bytes > remoteBytes || len(kept) == remoteMembers {
			break
		}
		kept = append(kept, text)
	}
	if len(kept) == 0 {
		return ctx
	}
	return context.WithValue(ctx, remoteBaggageKey{}, strings.Join(kept, ","))
}

// parseMember reads one member of a baggage header; false where it is malformed.
func parseMember(text string) (baggage.Member, bool) {
	b, err := baggage.Parse(text)
	if err != nil || b.Len() != 1 {
		return baggage.Member{}, false
	}
	return b.Members()[0], true
}
