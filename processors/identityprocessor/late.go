package identityprocessor

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/faultline-io/faultline/internal/identity"
)

// Bounds of the sample. A slot is given to another identifier when the one that waits there was
// resolved, or has waited an hour.
const (
	lateSlots    = 4096
	latePatience = time.Hour
	latePerBatch = 64 // unresolved records of a batch that are looked at
	lateMaxKeys  = 8  // a record with more waits for these alone
	lateInterval = 5 * time.Second
)

// late notices links that came late: an identifier that a record carried when nothing resolved it, and
// that what was learnt afterwards resolves at that record's time. An identifier (the strongest of its
// record) counts once. It is a sample, so that it costs next to nothing: most of a trickle, some of a flood.
type late struct {
	index   *identity.Index
	links   metric.Int64Counter
	delay   metric.Float64Histogram
	seed    maphash.Seed
	waiting [lateSlots]atomic.Uint64 // the identifier's hash, 0: free

	mu      sync.Mutex
	records [lateSlots]unresolved
}

// unresolved is what a record needs to be asked for again.
type unresolved struct {
	keys         identity.Keys
	at, observed int64
	since        time.Time
}

func newLate(x *identity.Index) *late { return &late{index: x, seed: maphash.MakeSeed()} }

// note lets a record's identifiers wait, where a slot is free. They may lie in memory of the batch.
func (l *late) note(keys identity.Keys, at, observed int64, now time.Time) {
	strongest := identity.Key{}
	for _, k := range keys {
		if strongest.Kind == identity.NoKind || k.Kind < strongest.Kind {
			strongest = k
		}
	}
	if strongest.Kind == identity.NoKind {
		return // nothing could ever resolve it
	}
	hash := maphash.Comparable(l.seed, strongest) | 1
	slot := hash >> 1 % lateSlots
	if l.waiting[slot].Load() == hash {
		return // it waits already
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[slot].Load() != 0 && now.Sub(l.records[slot].since) < latePatience {
		return
	}
	keys = append(identity.Keys(nil), keys[:min(len(keys), lateMaxKeys)]...)
	for i := range keys {
		keys[i].ID = strings.Clone(keys[i].ID)
	}
	l.records[slot] = unresolved{keys, at, observed, now}
	l.waiting[slot].Store(hash)
}

// sweep counts those that can be resolved by now.
func (l *late) sweep(ctx context.Context, now time.Time) {
	for slot := range l.records {
		if l.waiting[slot].Load() == 0 {
			continue
		}
		l.mu.Lock()
		u := l.records[slot]
		l.mu.Unlock()
		r := l.index.Resolve(u.keys, u.at, u.observed)
		if r.Via == identity.Unresolved {
			continue
		}
		via := metric.WithAttributeSet(attribute.NewSet(attribute.String("via", string(r.Via))))
		l.links.Add(ctx, 1, via)
		l.delay.Record(ctx, now.Sub(u.since).Seconds())
		l.mu.Lock()
		l.records[slot] = unresolved{}
		l.waiting[slot].Store(0)
		l.mu.Unlock()
	}
}

// watch sweeps until ctx ends.
func (l *late) watch(ctx context.Context) {
	ticker := time.NewTicker(lateInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			l.sweep(ctx, now)
		}
	}
}
