package clickhouse

import (
	"context"
	"maps"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
)

// Bounds of what is known at once: keys in one question (they travel in its address), and facts.
const (
	keysAtOnce = 500
	maxFacts   = 200_000
)

// known is what the links say, as of an ingested time, around some identifiers: enough to say whose any
// record is that carries them. It grows as records bring identifiers that were not asked for yet, and
// shrinks to what it began with when it has grown too large.
type known struct {
	library *Library
	asOf    int64
	bounded bool // there was more than could be taken

	facts  map[identity.Fact]bool
	asked  map[identity.Key]bool
	direct map[identity.Key]map[string]bool // allocations that an immovable key names
	index  *identity.Index
	peers  *correlator.Peers

	kept *known // what it began with
}

func newKnown(l *Library, asOf int64) *known {
	return &known{
		library: l, asOf: asOf, facts: map[identity.Fact]bool{}, asked: map[identity.Key]bool{}, direct: map[identity.Key]map[string]bool{},
		index: identity.New(identity.Options{SharedNodes: l.profile.SharedNodes}), peers: correlator.NewPeers(),
	}
}

// follow asks for what is known of keys, and of what that leads to, a number of rounds far. It walks
// from one immovable identifier to the next and from machines to installations and boots; never through
// an allocation, never through what names two, and never from a machine to the identifiers of
// everything that was done with it.
func (k *known) follow(ctx context.Context, frontier []identity.Key, rounds int) error {
	for range rounds {
		frontier = slices.DeleteFunc(frontier, func(key identity.Key) bool { return k.asked[key] })
		if len(frontier) == 0 {
			return nil
		}
		var next []identity.Key
		for part := range slices.Chunk(frontier, keysAtOnce) {
			for _, key := range part {
				k.asked[key] = true
			}
			answers, err := together[[]identity.Fact]{
				func(ctx context.Context) ([]identity.Fact, error) {
					return k.library.links(ctx, "facts_to", part, k.asOf)
				},
				func(ctx context.Context) ([]identity.Fact, error) {
					return k.library.links(ctx, "facts_of", part, k.asOf)
				},
			}.run(ctx)
			if err != nil {
				return err
			}
			for _, found := range answers {
				next = k.take(found, next)
				k.bounded = k.bounded || len(found) >= maxLinks
			}
			if len(k.facts) > maxFacts && k.kept == nil {
				k.bounded = true
				return nil
			}
		}
		frontier = slices.DeleteFunc(next, func(key identity.Key) bool { return len(k.direct[key]) > 1 })
	}
	return nil
}

// take files facts and appends the keys to look at next.
func (k *known) take(found []identity.Fact, next []identity.Key) []identity.Key {
	for _, f := range found {
		if k.facts[f] {
			continue
		}
		k.facts[f] = true
		_ = k.index.Add(f) // refused when it was learnt, if at all
		k.peers.Add(f)
		if f.Object.Kind == identity.Allocation && f.Subject.Kind.Immovable() {
			if k.direct[f.Subject] == nil {
				k.direct[f.Subject] = map[string]bool{}
			}
			k.direct[f.Subject][f.Object.ID] = true
		}
		for _, pair := range [...][2]identity.Key{{f.Subject, f.Object}, {f.Object, f.Subject}} {
			key, from := pair[0], pair[1]
			if key.Kind == identity.Allocation || k.asked[key] || place(from) && !place(key) {
				continue
			}
			next = append(next, key)
		}
	}
	return next
}

// place says whether a key is a machine, an installation or a boot.
func place(k identity.Key) bool {
	return k.Kind == identity.Node || k.Kind == identity.NodeInstance || k.Kind == identity.Boot
}

// keep makes what is known now that to which it shrinks.
func (k *known) keep() {
	kept := *k
	kept.facts, kept.asked = maps.Clone(k.facts), maps.Clone(k.asked)
	k.kept = &kept
}

// shrink forgets what records brought, when that has become much.
func (k *known) shrink() {
	if len(k.facts) < maxFacts+len(k.kept.facts) {
		return
	}
	fresh := newKnown(k.library, k.asOf)
	for f := range k.kept.facts {
		fresh.take([]identity.Fact{f}, nil)
	}
	fresh.asked, fresh.kept, fresh.bounded = maps.Clone(k.kept.asked), k.kept, k.bounded
	*k = *fresh
}

// neighbours are the keys that share a fact with a key and pass the test, in order.
func (k *known) neighbours(of identity.Key, test func(identity.Key) bool) []identity.Key {
	var out []identity.Key
	for f := range k.facts {
		switch {
		case f.Subject == of && test(f.Object):
			out = append(out, f.Object)
		case f.Object == of && test(f.Subject):
			out = append(out, f.Subject)
		}
	}
	slices.SortFunc(out, compareKeys)
	return slices.Compact(out)
}
