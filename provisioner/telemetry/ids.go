package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"slices"
)

type idsKey struct{}

// ids are identifiers of the work at hand, in the order in which they were learnt. Never changed in
// place: contexts share them.
type ids []slog.Attr

// With adds identifiers, given as key and value in turn, to the work that ctx stands for. A value
// that is empty is left out; a key that is there already takes the new value.
func With(ctx context.Context, pairs ...string) context.Context {
	have, _ := ctx.Value(idsKey{}).(ids)
	out := append(make(ids, 0, len(have)+len(pairs)/2), have...)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if k := slices.IndexFunc(out, func(a slog.Attr) bool { return a.Key == pairs[i] }); k >= 0 {
			out = slices.Delete(out, k, k+1)
		}
		out = append(out, slog.String(pairs[i], pairs[i+1]))
	}
	return context.WithValue(ctx, idsKey{}, out)
}

// ID is what ctx knows under key, "" for nothing.
func ID(ctx context.Context, key string) string {
	have, _ := ctx.Value(idsKey{}).(ids)
	for _, a := range have {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// Detached is ctx without identifiers and without a span: for work that belongs to somebody else than
// the request in which it is done.
func Detached(ctx context.Context) context.Context {
	return Untraced(context.WithValue(context.WithValue(ctx, idsKey{}, ids(nil)), remoteBaggageKey{}, ""))
}

func idsOf(ctx context.Context) ids {
	have, _ := ctx.Value(idsKey{}).(ids)
	return have
}

// NewID is prefix-, then sixteen random hexadecimal digits.
func NewID(prefix string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return prefix + "-" + hex.EncodeToString(b[:])
}
