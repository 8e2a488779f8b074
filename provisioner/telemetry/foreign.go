package telemetry

import (
	"context"
	"strings"
)

// What is handed on for others is bounded: it travels in rows and headers. W3C asks for 64 members of baggage
// and 512 bytes of trace state at least.
const (
	foreignMembers = 64
	foreignBytes   = 4096
	stateBytes     = 512
)

type foreignKey struct{}

// Foreign is the baggage of ctx that is not ours, as it came; "" for none.
func Foreign(ctx context.Context) string {
	members, _ := ctx.Value(foreignKey{}).(string)
	return members
}

// WithForeign hands on those members of baggage that are not ours. Members that are malformed, or beyond the
// bounds, are left out: a request that carries them would not be sent.
func WithForeign(ctx context.Context, baggage string) context.Context {
	var kept []string
	bytes := 0
	for member := range strings.SplitSeq(baggage, ",") {
		member = strings.TrimSpace(member)
		key, _, ok := strings.Cut(member, "=")
		key = strings.TrimSpace(key)
		if !ok || isCarried(key) || !isToken(key) || !isPrintable(member) {
			continue
		}
		if bytes += len(member) + 1; bytes > foreignBytes || len(kept) == foreignMembers {
			break
		}
		kept = append(kept, member)
	}
	if len(kept) == 0 {
		return ctx
	}
	return context.WithValue(ctx, foreignKey{}, strings.Join(kept, ","))
}

// statesOf is a trace state that may be handed on, "" for one that may not: it is whole or nothing.
func statesOf(text string) string {
	if len(text) > stateBytes || !isPrintable(text) || !strings.Contains(text, "=") {
		return ""
	}
	return strings.TrimSpace(text)
}

// isToken says whether text is a token of HTTP (RFC 9110), as keys of baggage are.
func isToken(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return text != ""
}

func isPrintable(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\t' && (text[i] < ' ' || text[i] >= 0x7f) {
			return false
		}
	}
	return true
}
