package clickhouse

import (
	"context"
	"maps"
	"slices"

	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
)

// Bounds of what is known at once: keys in one question (they travel in its address), and links.
const (
	keysAtOnce    = 500
	maxGraphLinks = 200_000
)

// linkGraph is what the links say, as of an ingested time, around some identifiers: enough to say whose any
// record is that carries them. It grows as records bring identifiers that were not asked for yet, and
// shrinks to what it began with when it has grown too large.
type linkGraph struct {
	library *Reader
	asOf    int64
	bounded bool // there was more than could be taken

	links  map[identity.Link]bool
	asked  map[identity.Key]bool
	direct map[identity.Key]map[string]bool // allocations that an immovable key names
	index  *identity.Index
	peers  *query.Peers

	kept *linkGraph // what it began with
}

func newLinkGraph(l *Reader, asOf int64) *linkGraph {
	return &linkGraph{
		library: l, asOf: asOf, links: map[identity.Link]bool{}, asked: map[identity.Key]bool{}, direct: map[identity.Key]map[string]bool{},
		index: identity.New(identity.Options{SharedNodes: l.profile.SharedNodes}), peers: query.NewPeers(),
	}
}

// follow asks for what is known of keys, and of what that leads to, a number of rounds far. It walks
// from one immovable identifier to the next and from nodes to node instances and boots; never through
// an allocation, never through what names two, and never from a node to the identifiers of
// everything that was done with it.
func (g *linkGraph) follow(ctx context.Context, frontier []identity.Key, rounds int) error {
	for range rounds {
		frontier = slices.DeleteFunc(frontier, func(key identity.Key) bool { return g.asked[key] })
		if len(frontier) == 0 {
			return nil
		}
		var next []identity.Key
		for part := range slices.Chunk(frontier, keysAtOnce) {
			for _, key := range part {
				g.asked[key] = true
			}
			answers, err := parallel[[]identity.Link]{
				func(ctx context.Context) ([]identity.Link, error) {
					return g.library.links(ctx, "ingested_links_to", part, g.asOf)
				},
				func(ctx context.Context) ([]identity.Link, error) {
					return g.library.links(ctx, "ingested_links_of", part, g.asOf)
				},
			}.run(ctx)
			if err != nil {
				return err
			}
			for _, found := range answers {
				next = g.take(found, next)
				g.bounded = g.bounded || len(found) >= maxLinks
			}
			if len(g.links) > maxGraphLinks && g.kept == nil {
				g.bounded = true
				return nil
			}
		}
		frontier = slices.DeleteFunc(next, func(key identity.Key) bool { return len(g.direct[key]) > 1 })
	}
	return nil
}

// take files links and appends the keys to look at next.
func (g *linkGraph) take(found []identity.Link, next []identity.Key) []identity.Key {
	for _, f := range found {
		if g.links[f] {
			continue
		}
		g.links[f] = true
		_ = g.index.Add(f) // refused when it was learnt, if at all
		g.peers.Add(f)
		if f.Object.Kind == identity.Allocation && f.Subject.Kind.Immovable() {
			if g.direct[f.Subject] == nil {
				g.direct[f.Subject] = map[string]bool{}
			}
			g.direct[f.Subject][f.Object.ID] = true
		}
		for _, pair := range [...][2]identity.Key{{f.Subject, f.Object}, {f.Object, f.Subject}} {
			key, from := pair[0], pair[1]
			if key.Kind == identity.Allocation || g.asked[key] || place(from) && !place(key) {
				continue
			}
			next = append(next, key)
		}
	}
	return next
}

// place says whether a key is a node, a node instance or a boot.
func place(k identity.Key) bool {
	return k.Kind == identity.Node || k.Kind == identity.NodeInstance || k.Kind == identity.Boot
}

// keep makes what is known now that to which it shrinks.
func (g *linkGraph) keep() {
	kept := *g
	kept.links, kept.asked = maps.Clone(g.links), maps.Clone(g.asked)
	g.kept = &kept
}

// shrink forgets what records brought, when that has become much.
func (g *linkGraph) shrink() {
	if len(g.links) < maxGraphLinks+len(g.kept.links) {
		return
	}
	fresh := newLinkGraph(g.library, g.asOf)
	for f := range g.kept.links {
		fresh.take([]identity.Link{f}, nil)
	}
	fresh.asked, fresh.kept, fresh.bounded = maps.Clone(g.kept.asked), g.kept, g.bounded
	*g = *fresh
}

// neighbours are the keys that share a link with a key and pass the test, in order.
func (g *linkGraph) neighbours(of identity.Key, test func(identity.Key) bool) []identity.Key {
	var out []identity.Key
	for f := range g.links {
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
