package clickhouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
)

var _ query.Facts = (*Reader)(nil)

// KindsOf implements query.Facts.
func (l *Reader) KindsOf(ctx context.Context, id string) ([]identity.Kind, error) {
	var keys []identity.Key
	for k := range identity.Kinds() {
		keys = append(keys, identity.Key{Kind: k, ID: id})
	}
	rows, err := l.query(ctx, "kinds_of", params{"keys": texts(keys), "pairs": pairs(keys), "id": plain(id)})
	if err != nil {
		return nil, fmt.Errorf("look %s up: %w", id, err)
	}
	defer func() { _ = rows.Close() }()
	var out []identity.Kind
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("look %s up: %w", id, err)
		}
		if k := identity.ParseKind(name); k != identity.NoKind {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out, rows.Err()
}

// Node implements query.Facts.
func (l *Reader) Node(ctx context.Context, node string) (query.Node, error) {
	out := query.Node{ID: node, Instances: []query.NodeInstance{}, Assignments: []query.Assignment{}}
	of := identity.Key{Kind: identity.Node, ID: node}
	g := newLinkGraph(l, forever)
	if err := g.follow(ctx, []identity.Key{of}, 1); err != nil {
		return out, fmt.Errorf("read node %s: %w", node, err)
	}
	for _, i := range g.index.NodeInstances(node) {
		out.Instances = append(out.Instances, query.NodeInstance{ID: i.Object, From: moments(i.From), To: moments(i.To)})
	}
	for _, i := range g.index.Assignments(node) {
		out.Assignments = append(out.Assignments, query.Assignment{ID: i.Object, From: moments(i.From), To: moments(i.To)})
	}
	where, err := l.locate(ctx, lookup{keys: []identity.Key{of}, while: always})
	if err != nil {
		return out, fmt.Errorf("read node %s: %w", node, err)
	}
	if where.empty() && len(g.links) == 0 {
		return out, query.ErrUnknown
	}
	p := params{"node": plain(node)}
	rows, err := l.run(ctx, "occupancy_of", choice{Located: where.bind(p)}, p, nil)
	if err != nil {
		return out, fmt.Errorf("read node %s: %w", node, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var view, said string
		var at time.Time
		if err := rows.Scan(&view, &said, &at); err != nil {
			return out, fmt.Errorf("read node %s: %w", node, err)
		}
		when := correlator.Time(at.UnixNano())
		if view == "" {
			out.Occupancy, out.OccupancySince = said, &when
			continue
		}
		out.Shown = append(out.Shown, query.Shown{Projection: view, Occupancy: said, At: when})
	}
	return out, rows.Err()
}

// moments is the end of an interval, nil where it is open.
func moments(t int64) *correlator.Time {
	if t == math.MinInt64 || t == math.MaxInt64 {
		return nil
	}
	at := correlator.Time(t)
	return &at
}

// SourcesHeard implements query.Facts.
func (l *Reader) SourcesHeard(ctx context.Context) ([]query.SourceHeard, error) {
	rows, err := l.query(ctx, "sources_heard", nil)
	if err != nil {
		return nil, fmt.Errorf("read who was heard of: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []query.SourceHeard
	for rows.Next() {
		var one query.SourceHeard
		var last time.Time
		if err := rows.Scan(&one.Service, &one.Scope, &one.Layer, &last); err != nil {
			return nil, fmt.Errorf("read who was heard of: %w", err)
		}
		one.Last = last.UnixNano()
		out = append(out, one)
	}
	return out, rows.Err()
}

// SourceFigures implements query.Facts.
func (l *Reader) SourceFigures(ctx context.Context, window time.Duration) ([]query.SourceFigures, error) {
	rows, err := l.query(ctx, "sources_figures", params{"window": int(window.Seconds())})
	if err != nil {
		return nil, fmt.Errorf("read what sources sent: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []query.SourceFigures
	for rows.Next() {
		var f query.SourceFigures
		if err := rows.Scan(&f.Service, &f.Records, &f.Errors, &f.Lag, &f.Ahead, &f.Unresolved, &f.Allocation, &f.Workflow, &f.Correlation,
			&f.NodeCovered, &f.NodeInstanceCovered); err != nil {
			return nil, fmt.Errorf("read what sources sent: %w", err)
		}
		out = append(out, f)
	}
	return out, rows.Err()
}

// CompareProviders implements query.Facts.
func (l *Reader) CompareProviders(ctx context.Context, from, to int64) ([]query.ProviderFigures, error) {
	rows, err := l.run(ctx, "providers", choice{}, params{"from": nanos(from), "to": to}, l.limits.settings())
	if err != nil {
		return nil, fmt.Errorf("compare providers: %w", l.limits.explain(err))
	}
	defer func() { _ = rows.Close() }()
	out := []query.ProviderFigures{}
	for rows.Next() {
		var f query.ProviderFigures
		var wait, run []float64
		if err := rows.Scan(&f.Provider, &f.Operation, &f.Jobs, &f.Succeeded, &f.Failed, &f.Canceled, &f.Open, &wait, &run); err != nil {
			return nil, fmt.Errorf("compare providers: %w", err)
		}
		f.Wait, f.Run = spread(wait), spread(run)
		out = append(out, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("compare providers: %w", l.limits.explain(err))
	}
	return out, nil
}

// spread are the quantiles of something that was measured; nil of nothing.
func spread(q []float64) *query.Spread {
	if len(q) < 4 {
		return nil
	}
	return &query.Spread{P50: q[0], P90: q[1], P99: q[2], Max: q[3]}
}
