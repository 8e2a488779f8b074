package clickhouse

import (
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

// Mark implements query.Events.
func (l *Reader) Mark(ctx context.Context) (int64, error) {
	rows, err := l.query(ctx, "mark", nil)
	if err != nil {
		return 0, fmt.Errorf("read what was ingested last: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var at time.Time
	for rows.Next() {
		if err := rows.Scan(&at); err != nil {
			return 0, fmt.Errorf("read what was ingested last: %w", err)
		}
	}
	return at.UnixNano(), rows.Err()
}

// Events implements query.Events.
func (l *Reader) Events(ctx context.Context, s query.Selection, after query.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		r := &eventStream{library: l, selection: s, graph: newLinkGraph(l, s.AsOf), part: stretch{
			mark: s.AsOf, from: max(after.Time, s.From), last: later(s.To),
		}}
		if s.From == 0 {
			r.part.from = after.Time
		}
		if err := r.run(ctx, after, yield); err != nil {
			yield(nil, fmt.Errorf("read events of %s %s: %w", s.Key.Kind, s.Key.ID, err))
		}
	}
}

// eventStream merges what several questions answer into one stream.
type eventStream struct {
	library   *Reader
	selection query.Selection
	graph     *linkGraph
	sources   []*source
	part      stretch
}

func (r *eventStream) run(ctx context.Context, after query.Position, yield func(*correlator.Event, error) bool) error {
	var err error
	if r.sources, err = r.graph.explore(ctx, r.selection); err != nil {
		return err
	}
	r.graph.keep()
	if r.graph.bounded && !yield(nil, query.ErrBounded) {
		return nil
	}
	for _, s := range r.sources {
		s.after = after
	}
	whole := after == query.Beginning() && r.selection.From == 0 && r.selection.To == 0
	for size := firstFetch; ; size = min(2*size, mostFetch) {
		batch, err := next(ctx, r.library, r.sources, r.part, size, query.Position.Compare)
		if err != nil || len(batch) == 0 {
			return err
		}
		low, high := batch[0].position(), batch[len(batch)-1].position()
		whole = whole && len(batch) < size // from the beginning to the end: no copy is elsewhere
		if batch, err = r.settle(ctx, batch, low, high, whole); err != nil {
			return err
		}
		events, err := r.resolve(ctx, batch)
		if err != nil {
			return err
		}
		for _, e := range events {
			if r.selection.Holds(e, r.graph.peers) && !yield(e, nil) {
				return nil
			}
		}
		r.graph.shrink()
	}
}

// settle makes one record of the copies of each, at the place of the copy that wins. Copies with the
// same content stand at one position; others, which only a producer's event id or a span's ids can make,
// anywhere in the sources, unless the batch is all that they have.
func (r *eventStream) settle(ctx context.Context, batch []row, low, high query.Position, whole bool) ([]row, error) {
	merged := map[query.Position]row{}
	var only []string
	for _, one := range batch {
		same := one.same()
		before, again := merged[same]
		if !again {
			merged[same] = one
			if !whole && same.Time == 0 {
				only = append(only, one.key)
			}
			continue
		}
		merged[same] = one.merge(before)
	}
	var elsewhere parallel[[]row]
	for _, s := range r.sources {
		for part := range slices.Chunk(only, keysAtOnce) {
			elsewhere = append(elsewhere, func(ctx context.Context) ([]row, error) {
				return s.fetch(ctx, r.library, stretch{
					mark: r.part.mark, from: query.Beginning().Time, last: later(0), after: query.Beginning(),
					only: part, low: low, high: high, most: maxCopies,
				})
			})
		}
	}
	copies, err := elsewhere.run(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range slices.Concat(copies...) {
		merged[one.same()] = one.merge(merged[one.same()])
	}
	out := make([]row, 0, len(merged))
	for _, one := range merged {
		if p := one.position(); p.Compare(low) >= 0 && p.Compare(high) <= 0 {
			out = append(out, one) // else it is read elsewhere
		}
	}
	slices.SortFunc(out, func(a, b row) int { return a.position().Compare(b.position()) })
	return out, nil
}

// maxCopies bounds how many copies of a batch's records are settled.
const maxCopies = 100_000

// same is equal for copies of one record: a span's, and those of what its producer gave an id, may differ in all but their key;
// others have nothing but their content, and stand at one position.
func (r row) same() query.Position {
	if id, _ := r.Attrs.Get(semconv.EventIDKey); id != "" || r.Signal == record.Span {
		return query.Position{Key: r.key}
	}
	return r.position()
}

func (r row) merge(other row) row {
	if r.key != other.key {
		return r
	}
	m, _ := record.Merge(r.Record, other.Record)
	return row{m, r.key}
}

// resolve says whose each record is. Identifiers that the selection's own links do not tell of are asked
// for first.
func (r *eventStream) resolve(ctx context.Context, batch []row) ([]*correlator.Event, error) {
	var frontier []identity.Key
	for _, one := range batch {
		one.Keys = r.library.profile.Keys(one.Record)
		if one.Keys.First(identity.Allocation) != "" && (r.selection.Key.Kind == identity.Allocation || one.Keys.Has(r.selection.Key)) {
			continue // it says itself whose it is
		}
		for _, k := range one.Keys {
			if k.Kind != identity.Allocation && !r.graph.asked[k] && len(r.graph.direct[k]) < 2 {
				frontier = append(frontier, k)
			}
		}
	}
	slices.SortFunc(frontier, compareKeys)
	if err := r.graph.follow(ctx, slices.Compact(frontier), maxRounds); err != nil {
		return nil, err
	}
	out := make([]*correlator.Event, 0, len(batch))
	for _, one := range batch {
		e := correlator.NewUnresolvedEvent(one.Record, one.key, r.library.profile)
		e.Resolution = r.graph.index.Resolve(one.Keys, one.Time, one.Observed)
		out = append(out, e)
	}
	return out, nil
}
