package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

var _ query.Events = (*Reader)(nil)

// Search implements query.Events.
func (l *Reader) Search(ctx context.Context, q query.Query, before query.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		if err := l.search(ctx, q, before, yield); err != nil {
			yield(nil, fmt.Errorf("search: %w", l.limits.explain(err)))
		}
	}
}

func (l *Reader) search(ctx context.Context, q query.Query, before query.Position, yield func(*correlator.Event, error) bool) error {
	part := stretch{mark: q.AsOf, from: query.Beginning().Time, last: min(later(q.To), before.Time), settings: l.limits.settings()}
	if q.From != 0 {
		part.from = q.From
	}
	base, some, err := l.searchSource(ctx, q, part)
	if err != nil || !some {
		return err
	}
	base.after = before
	var sources []*source
	for _, match := range []string{"match_in_body", "match_elsewhere"} {
		if q.Text == "" {
			match = "match_any"
		}
		one := base
		one.condition = match
		sources = append(sources, &one)
		if q.Text == "" {
			break
		}
	}
	backwards := func(a, b query.Position) int { return b.Compare(a) }
	var spent time.Duration
	for size := firstFetch / 2; ; size = min(2*size, mostFetch) {
		if part.settings, err = l.limits.after(spent); err != nil {
			return err
		}
		asked := time.Now()
		batch, err := next(ctx, l, sources, part, size, backwards)
		spent += time.Since(asked)
		if err != nil || len(batch) == 0 {
			return err
		}
		for i, one := range batch {
			if i+1 < len(batch) && batch[i+1].position() == one.position() {
				batch[i+1] = batch[i+1].merge(one)
				continue
			}
			e := correlator.NewUnresolvedEvent(one.Record, one.key, l.profile)
			e.Keys = l.profile.Keys(one.Record)
			e.Resolution = stampedOn(one.Record, e.Keys)
			if (q.Layer == "" || e.Layer == q.Layer) && !yield(e, nil) {
				return nil
			}
		}
	}
}

// telling are the words by which indexes are asked: the longest ones are the rarest, and a few suffice.
func telling(words []string) []string {
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	return words[:min(len(words), mostTelling)]
}

const mostTelling = 8

// stampedOn is what was known of a record when it was written.
func stampedOn(r *record.Record, keys identity.Keys) identity.Resolution {
	one := func(kind identity.Kind) string {
		if own := keys.First(kind); own != "" {
			return own
		}
		id, _ := r.Stamped.Get(kind.Attribute())
		return id
	}
	via, _ := r.Stamped.Get(semconv.IdentityVia)
	out := identity.Resolution{
		Allocation: one(identity.Allocation), Workflow: one(identity.Workflow), Node: one(identity.Node), NodeInstance: one(identity.NodeInstance),
		Via: identity.Via(via),
	}
	if keys.First(identity.Allocation) != "" {
		out.Via = identity.Explicit
	}
	return out
}

// searchSource asks all of a query but its words' condition; some is false where nothing can be found.
func (l *Reader) searchSource(ctx context.Context, q query.Query, part stretch) (s source, some bool, err error) {
	services := q.Services
	if q.Layer != "" {
		in, err := l.servicesOf(ctx, q.Layer, part)
		if err != nil {
			return source{}, false, err
		}
		if len(services) > 0 {
			in = slices.DeleteFunc(in, func(s string) bool { return !slices.Contains(services, s) })
		}
		if services = in; len(services) == 0 {
			return source{}, false, nil
		}
	}
	s = source{
		query: "search", words: telling(q.Words()),
		params: params{"severity": q.Severity, "services": list(services), "words": list(q.Words())},
	}
	for _, a := range q.Attrs {
		kind := identity.KindOfAttribute(a.Key)
		switch before := s.identifiers.First(kind); {
		case kind == identity.NoKind:
			s.attrs = append(s.attrs, a)
		case a.Value == "" || before != "" && before != a.Value:
			return source{}, false, nil // one record has one first identifier of a kind
		case before == "":
			s.identifiers = append(s.identifiers, identity.Key{Kind: kind, ID: a.Value})
		}
	}
	return s, true, nil
}

// servicesOf are the services of which some records may be in a layer: deciding is each record's matter.
func (l *Reader) servicesOf(ctx context.Context, layer string, part stretch) ([]string, error) {
	rows, err := l.run(ctx, "sources", choice{}, params{"from": nanos(part.from), "last": part.last}, part.settings)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := []string{}
	for rows.Next() {
		var service, scope, stated string
		if err := rows.Scan(&service, &scope, &stated); err != nil {
			return nil, err
		}
		if l.profile.MayMatchLayer(layer, service, scope, stated) && !slices.Contains(out, service) {
			out = append(out, service)
		}
	}
	slices.Sort(out)
	return out, rows.Err()
}
