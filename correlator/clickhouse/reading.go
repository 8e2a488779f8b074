package clickhouse

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

var _ correlator.EventReader = (*Library)(nil)

// Mark implements correlator.EventReader.
func (l *Library) Mark(ctx context.Context) (int64, error) {
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

// Events implements correlator.EventReader.
func (l *Library) Events(ctx context.Context, s correlator.Selection, after correlator.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		r := &reading{library: l, selection: s, known: newKnown(l, s.AsOf), part: stretch{
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

// reading merges what several questions answer into one stream.
type reading struct {
	library   *Library
	selection correlator.Selection
	known     *known
	sources   []*source
	part      stretch
}

func (r *reading) run(ctx context.Context, after correlator.Position, yield func(*correlator.Event, error) bool) error {
	var err error
	if r.sources, err = r.known.explore(ctx, r.selection); err != nil {
		return err
	}
	r.known.keep()
	if r.known.bounded && !yield(nil, correlator.ErrBounded) {
		return nil
	}
	for _, s := range r.sources {
		s.after = after
	}
	whole := after == correlator.Beginning() && r.selection.From == 0 && r.selection.To == 0
	for size := firstFetch; ; size = min(2*size, mostFetch) {
		batch, err := next(ctx, r.library, r.sources, r.part, size, correlator.Position.Compare)
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
			if r.selection.Holds(e, r.known.peers) && !yield(e, nil) {
				return nil
			}
		}
		r.known.shrink()
	}
}

// settle makes one record of the copies of each, at the place of the copy that wins. Copies with the
// same content stand at one position; others, which only a producer's event id or a span's ids can make,
// anywhere in the sources, unless the batch is all that they have.
func (r *reading) settle(ctx context.Context, batch []row, low, high correlator.Position, whole bool) ([]row, error) {
	merged := map[correlator.Position]row{}
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
	var elsewhere together[[]row]
	for _, s := range r.sources {
		for part := range slices.Chunk(only, keysAtOnce) {
			elsewhere = append(elsewhere, func(ctx context.Context) ([]row, error) {
				return s.fetch(ctx, r.library, stretch{
					mark: r.part.mark, from: correlator.Beginning().Time, last: later(0), after: correlator.Beginning(),
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
func (r row) same() correlator.Position {
	if id, _ := r.Attrs.Get(semconv.EventIDKey); id != "" || r.Signal == record.Span {
		return correlator.Position{Key: r.key}
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
func (r *reading) resolve(ctx context.Context, batch []row) ([]*correlator.Event, error) {
	var frontier []identity.Key
	for _, one := range batch {
		one.Keys = r.library.profile.Keys(one.Record)
		if one.Keys.First(identity.Allocation) != "" && (r.selection.Key.Kind == identity.Allocation || one.Keys.Has(r.selection.Key)) {
			continue // it says itself whose it is
		}
		for _, k := range one.Keys {
			if k.Kind != identity.Allocation && !r.known.asked[k] && len(r.known.direct[k]) < 2 {
				frontier = append(frontier, k)
			}
		}
	}
	slices.SortFunc(frontier, compareKeys)
	if err := r.known.follow(ctx, slices.Compact(frontier), maxRounds); err != nil {
		return nil, err
	}
	out := make([]*correlator.Event, 0, len(batch))
	for _, one := range batch {
		e := correlator.NewEvent(one.Record, one.key, r.library.profile)
		e.Resolution = r.known.index.Resolve(one.Keys, one.Time, one.Observed)
		out = append(out, e)
	}
	return out, nil
}
