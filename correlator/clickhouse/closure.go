package clickhouse

import (
	"context"
	"math"
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// forever is later than any observation.
const forever = int64(math.MaxInt64)

// maxRounds bounds how far links are followed; a chain of real identifiers has four or five.
const maxRounds = 8

// closure collects the links around an allocation: who leads to it, and whatever else those lead to, so
// that what is shared shows as shared. It never walks on through another allocation, a node, or a
// subject that names two allocations.
type closure struct {
	library    *Reader
	allocation string
	asOf       int64
	links      []identity.Link
	known      map[identity.Link]bool
	visited    map[identity.Key]bool
	direct     map[identity.Key]map[string]bool // allocations that a subject names
}

func newClosure(l *Reader, allocation string, asOf int64) *closure {
	return &closure{
		library: l, allocation: allocation, asOf: asOf, known: map[identity.Link]bool{},
		visited: map[identity.Key]bool{}, direct: map[identity.Key]map[string]bool{},
	}
}

// follow asks for the links of keys, and of those that these lead to.
func (c *closure) follow(ctx context.Context, frontier []identity.Key) error {
	for range maxRounds {
		if len(frontier) == 0 {
			return nil
		}
		for _, k := range frontier {
			c.visited[k] = true
		}
		found, err := c.library.links(ctx, "observed_links", frontier, c.asOf)
		if err != nil {
			return err
		}
		if frontier = c.take(found); len(c.links) > maxLinks {
			return nil
		}
	}
	return nil
}

// mostNamed bounds how many keys of an allocation's own records are followed at once: the others are reached by links.
const mostNamed = 1000

// named are the keys that records name and that were not followed yet, each record's first ones first: they spare rounds.
func (c *closure) named(records []*record.Record) []identity.Key {
	var out []identity.Key
	seen := map[identity.Key]bool{}
	for _, r := range records {
		for _, k := range c.library.profile.Keys(r) {
			if k.Kind != identity.Allocation && !c.visited[k] && !seen[k] && len(c.direct[k]) < 2 {
				seen[k] = true
				if out = append(out, k); len(out) == mostNamed {
					return out
				}
			}
		}
	}
	return out
}

// ofNobody are the keys that lead from records which name no allocation, and were not followed yet: a record that no Collector has stamped may
// be somebody else's by its links alone.
func (c *closure) ofNobody(records []*record.Record) []identity.Key {
	return slices.DeleteFunc(c.named(slices.DeleteFunc(slices.Clone(records), func(r *record.Record) bool {
		return c.library.profile.Keys(r).First(identity.Allocation) != ""
	})), func(k identity.Key) bool { return !k.Kind.Immovable() })
}

// take files new links and gives the keys to look at next.
func (c *closure) take(found []identity.Link) []identity.Key {
	var ends []identity.Key
	for _, f := range found {
		if c.known[f] {
			continue
		}
		c.known[f] = true
		c.links = append(c.links, f)
		if f.Object.Kind == identity.Allocation && f.Subject.Kind.Immovable() {
			if c.direct[f.Subject] == nil {
				c.direct[f.Subject] = map[string]bool{}
			}
			c.direct[f.Subject][f.Object.ID] = true
		}
		ends = append(ends, f.Subject, f.Object)
	}
	var next []identity.Key
	for _, k := range ends {
		if c.visited[k] || k.Kind == identity.Allocation || slices.Contains(next, k) || len(c.direct[k]) > 1 {
			continue
		}
		next = append(next, k)
	}
	return next
}

// keys are the immovable keys that may be this allocation's: the dataset decides.
func (c *closure) keys() []identity.Key {
	x := c.index()
	var out []identity.Key
	for k := range c.visited {
		if k.Kind.Immovable() && x.Resolve(identity.Keys{k}, 0, 0).Allocation == c.allocation {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, compareKeys)
	return out
}

// index holds the links that were collected.
func (c *closure) index() *identity.Index {
	x := identity.New(identity.Options{SharedNodes: c.library.profile.SharedNodes})
	for _, f := range c.links {
		_ = x.Add(f) // refused when it was learnt, if at all
	}
	return x
}

// held lists when nodes were this allocation's; one that still is has no end yet.
func (c *closure) held() []identity.Interval {
	x := c.index()
	var out []identity.Interval
	for _, node := range c.nodes() {
		for _, i := range x.Assignments(node) {
			if i.Object == c.allocation {
				out = append(out, i)
			}
		}
	}
	return out
}

func compareKeys(a, b identity.Key) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	if a.ID < b.ID {
		return -1
	}
	if a.ID > b.ID {
		return 1
	}
	return 0
}

// nodes are the nodes that the links name.
func (c *closure) nodes() []string {
	var out []string
	for k := range c.visited {
		if k.Kind == identity.Node {
			out = append(out, k.ID)
		}
	}
	slices.Sort(out)
	return out
}

// allocations are those that identifiers lead to. A node leads to all that ever held it; what is on a node for a time, to those that
// held it meanwhile.
func (c *closure) allocations(of []identity.Key) []string {
	x, seen := c.index(), map[identity.Key]bool{}
	var out []string
	for len(of) > 0 {
		k := of[0]
		if of = of[1:]; seen[k] {
			continue
		}
		seen[k] = true
		for _, l := range c.links {
			other := l.Object
			switch {
			case l.Subject == k && l.Object.Kind == identity.Allocation:
				out = append(out, l.Object.ID)
				continue
			case l.Object == k:
				other = l.Subject
			case l.Subject != k:
				continue
			}
			switch {
			case k.Kind == identity.Node:
			case other.Kind == identity.Node:
				out = append(out, x.HeldMeanwhile(other.ID, k)...)
			case other.Kind != identity.Allocation:
				of = append(of, other)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
