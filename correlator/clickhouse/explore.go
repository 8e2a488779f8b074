package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
)

// explore finds out what leads to a selection and gives the questions whose rows, together, are all that
// can be its: resolving each row decides.
func (g *linkGraph) explore(ctx context.Context, s query.Selection) ([]*source, error) {
	rounds := 2
	if s.Key.Kind == identity.Allocation {
		rounds = maxRounds
	}
	if err := g.follow(ctx, []identity.Key{s.Key}, rounds); err != nil {
		return nil, err
	}
	switch s.Key.Kind {
	case identity.Allocation:
		return g.ofAllocation(ctx, s.Key.ID)
	case identity.Node, identity.NodeInstance:
		return g.ofNode(ctx, s.Key)
	case identity.Workflow:
		return g.keySources(ctx, s.Key, append(g.neighbours(s.Key, immovable), s.Key), always)
	}
	return g.keySources(ctx, s.Key, append(g.neighbours(s.Key, identityOfOperation), s.Key), always)
}

func immovable(k identity.Key) bool { return k.Kind.Immovable() }

// identityOfOperation says whether a key may lead to a trace or a correlation (query.Peers).
func identityOfOperation(k identity.Key) bool {
	return k.Kind.Immovable() && k.Kind != identity.Workflow && k.Kind != identity.Resource
}

// always is all of time.
var always = identity.Interval{From: math.MinInt64, To: math.MaxInt64}

// keySources ask for rows with one of these keys, a number of keys at once; for an allocation, for those
// that were not stamped with it.
func (g *linkGraph) keySources(ctx context.Context, of identity.Key, keys []identity.Key, while identity.Interval) ([]*source, error) {
	var out []*source
	slices.SortFunc(keys, compareKeys)
	for part := range slices.Chunk(slices.Compact(keys), keysAtOnce) {
		q := lookup{keys: part, while: while}
		if of.Kind == identity.Allocation {
			q.but = of.ID // and what was stamped with others by their own word is theirs: no need to look there
		} else {
			q.named = g.named(part)
		}
		where, err := g.library.locate(ctx, q)
		if err != nil {
			return nil, err
		}
		if where.empty() {
			continue
		}
		out = append(out, &source{condition: "filter_keys", where: where, params: params{
			"keys": texts(part), "kind": of.Kind.String(), "id": plain(of.ID), "since": nanos(while.From), "until": nanos(while.To),
		}})
	}
	return out, nil
}

// named are the allocations that immovable keys lead to.
func (g *linkGraph) named(keys []identity.Key) []string {
	var out []string
	for _, key := range keys {
		for allocation := range g.direct[key] {
			out = append(out, allocation)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nodeSource asks for what a node said in an interval, by its own clock or by that of who observed it; nil where it said nothing.
func (g *linkGraph) nodeSource(ctx context.Context, of identity.Key, node string, while identity.Interval) (*source, error) {
	q := lookup{keys: []identity.Key{{Kind: identity.Node, ID: node}}, while: while}
	if of.Kind == identity.Allocation {
		q.but = of.ID
	}
	where, err := g.library.locate(ctx, q)
	if err != nil || where.empty() {
		return nil, err
	}
	return &source{condition: "filter_node_while", where: where, params: params{
		"node": plain(node), "kind": of.Kind.String(), "id": plain(of.ID), "since": nanos(while.From), "until": nanos(while.To),
	}}, nil
}

// ofAllocation: what was stamped with it, whatever carries an identifier that leads to it, and what its
// nodes said while they were its.
func (g *linkGraph) ofAllocation(ctx context.Context, id string) ([]*source, error) {
	of := identity.Key{Kind: identity.Allocation, ID: id}
	var keys, nodes []identity.Key
	for key := range g.asked {
		switch direct := g.direct[key]; {
		case key.Kind == identity.Node:
			nodes = append(nodes, key)
		case key.Kind.Immovable() && (direct[id] || len(direct) == 0):
			keys = append(keys, key)
		}
	}
	all := parallel[[]*source]{
		func(ctx context.Context) ([]*source, error) { return g.ownSource(ctx, id) },
		func(ctx context.Context) ([]*source, error) { return g.keySources(ctx, of, keys, always) },
	}
	if !g.library.profile.SharedNodes { // where nodes are shared, node and time say nothing
		slices.SortFunc(nodes, compareKeys)
		for _, node := range nodes {
			on := g.instancesOf(node)
			for _, while := range g.index.Assignments(node.ID) {
				if while.Object != id {
					continue
				}
				all = append(all,
					func(ctx context.Context) ([]*source, error) { return oneOrNone(g.nodeSource(ctx, of, node.ID, while)) },
					func(ctx context.Context) ([]*source, error) { return g.keySources(ctx, of, slices.Clone(on), while) })
			}
		}
	}
	out, err := all.run(ctx)
	return slices.Concat(out...), err
}

// ownSource asks for what was stamped with an allocation; none where nothing ever was.
func (g *linkGraph) ownSource(ctx context.Context, id string) ([]*source, error) {
	minutes, known, err := g.library.minutesOf(ctx, id)
	if err != nil || !known {
		return nil, err
	}
	minutes["id"] = id
	return []*source{{condition: "filter_allocation", params: minutes}}, nil
}

// oneOrNone makes a list of a source that may be nil.
func oneOrNone(s *source, err error) ([]*source, error) {
	if s == nil {
		return nil, err
	}
	return []*source{s}, err
}

// instancesOf are the instances of a node and their boots.
func (g *linkGraph) instancesOf(node identity.Key) []identity.Key {
	out := g.neighbours(node, func(key identity.Key) bool { return key.Kind == identity.NodeInstance || key.Kind == identity.Boot })
	for _, i := range out {
		out = append(out, g.neighbours(i, func(key identity.Key) bool { return key.Kind == identity.Boot })...)
	}
	return out
}

// ofNode: what names the node or node instance, what names a boot, a node instance, a claim or a
// task that was there, and for a node instance what its node said while it lived.
func (g *linkGraph) ofNode(ctx context.Context, of identity.Key) ([]*source, error) {
	bound := g.neighbours(of, func(key identity.Key) bool { return key.Kind == identity.Task || key.Kind == identity.Claim })
	if err := g.follow(ctx, slices.Clone(bound), 1); err != nil {
		return nil, err
	}
	keys := append(g.instancesOf(of), bound...)
	out, err := g.keySources(ctx, of, append(keys, of), always)
	if err != nil {
		return nil, err
	}
	if of.Kind == identity.Node {
		return out, nil
	}
	for _, node := range g.neighbours(of, func(key identity.Key) bool { return key.Kind == identity.Node }) {
		for _, while := range g.index.NodeInstances(node.ID) {
			if while.Object != of.ID {
				continue
			}
			there, err := oneOrNone(g.nodeSource(ctx, of, node.ID, while))
			if err != nil {
				return nil, err
			}
			out = append(out, there...)
		}
	}
	return out, nil
}

// minutesOf gives the minutes between which an allocation's own records lie, as parameters; known is false, and
// they are all minutes, where no record was written down as the allocation's.
func (l *Reader) minutesOf(ctx context.Context, allocation string) (minutes params, known bool, err error) {
	rows, err := l.query(ctx, "allocation_known", params{"id": plain(allocation)})
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = rows.Close() }()
	var first, last int64 = math.MinInt32, math.MaxInt32
	for rows.Next() {
		if err := rows.Scan(&first, &last); err != nil {
			return nil, false, fmt.Errorf("allocation_known: %w", err)
		}
		known = true
	}
	return params{"first_minute": first, "last_minute": last}, known, rows.Err()
}
