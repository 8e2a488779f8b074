package live

import (
	"context"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/record"
)

// Feed gives records in the order in which the store took them.
type Feed interface {
	// Now is the store's clock, which every record's time of arrival is by.
	Now(ctx context.Context) (time.Time, error)
	// Arrivals gives at most so many records after a mark, and the mark of the last one; none where nothing
	// arrived. A record may become visible a little after others with a later mark.
	Arrivals(ctx context.Context, after Mark, most int) ([]*record.Record, Mark, error)
	// Marks gives those of all records that were ingested in [from, to], Unix nanoseconds, without the records.
	Marks(ctx context.Context, from, to int64) ([]Mark, error)
	// Fetch gives the records of marks.
	Fetch(ctx context.Context, marks []Mark) ([]*record.Record, error)
}

// Mark is a place in a feed.
type Mark struct {
	Ingested int64  // when the store took the record, Unix nanoseconds
	Key      string // the first record.KeyDigits of the record's key
}

// MarkOf is a record's place in a feed.
func MarkOf(r *record.Record) Mark {
	key := r.Key()
	return Mark{r.Ingested, key[:record.KeyDigits]}
}

// Rows become visible in another order than that of their ingestion: a batch is stamped before it is
// sent, and a busy store takes its time. Every look goes back as far as twice what was late lately, and now
// and then further, reading nothing but marks: what becomes visible within longOverlap of its stamp is
// followed; anything later is read with the whole record set, when somebody asks.
const (
	shortOverlap = time.Second
	longOverlap  = 30 * time.Second
	longEvery    = 5 * time.Second
	pageSize     = 10_000
	maxPages     = 10 // a look; the rest comes with the next
	fetchSize    = 1000
)

// follower reads a feed without gaps and without repeating itself.
type follower struct {
	feed   Feed
	start  int64 // what was ingested before is not followed
	mark   Mark  // how far everything was read
	back   time.Time
	seen   map[Mark]bool // of the last half minute
	behind bool          // there is more
	late   time.Duration // how late rows became visible lately, at most
}

func newFollower(feed Feed, from time.Time) *follower {
	return &follower{feed: feed, start: from.UnixNano(), mark: Mark{Ingested: from.UnixNano()}, back: from, seen: map[Mark]bool{}}
}

// look gives what is new. What was read stays read where it fails in the middle.
func (f *follower) look(ctx context.Context, now time.Time) ([]*record.Record, error) {
	from := f.mark
	fresh, err := f.forward(ctx)
	if err != nil || f.behind {
		return fresh, err
	}
	late, err := f.backward(ctx, from.Ingested, now)
	f.forget()
	return append(fresh, late...), err
}

// forward reads on from the mark.
func (f *follower) forward(ctx context.Context) (out []*record.Record, err error) {
	f.behind = true
	for range maxPages {
		found, next, err := f.feed.Arrivals(ctx, f.mark, pageSize)
		if err != nil {
			return out, err
		}
		for _, r := range found {
			f.seen[MarkOf(r)] = true
		}
		out, f.mark = append(out, found...), next
		if len(found) < pageSize {
			f.behind = false
			break
		}
	}
	return out, nil
}

// backward looks for what became visible late, before a moment up to which everything was read.
func (f *follower) backward(ctx context.Context, until int64, now time.Time) ([]*record.Record, error) {
	f.late = f.late * 49 / 50
	back := min(max(shortOverlap, 2*f.late), longOverlap)
	if now.Sub(f.back) >= longEvery {
		back, f.back = longOverlap, now
	}
	marks, err := f.feed.Marks(ctx, max(f.start, until-int64(back)), until)
	if err != nil {
		return nil, err
	}
	var missed []Mark
	for _, m := range marks {
		if !f.seen[m] {
			missed = append(missed, m)
			f.late = max(f.late, time.Duration(until-m.Ingested))
		}
	}
	var out []*record.Record
	for chunk := range slices.Chunk(missed, fetchSize) {
		found, err := f.feed.Fetch(ctx, chunk)
		if err != nil {
			return out, err
		}
		for _, m := range chunk {
			f.seen[m] = true
		}
		out = append(out, found...)
	}
	return out, nil
}

// forget lets go of marks that no overlap reaches any more.
func (f *follower) forget() {
	if len(f.seen) < 2*pageSize {
		return
	}
	oldest := f.mark.Ingested - int64(2*longOverlap)
	for m := range f.seen {
		if m.Ingested < oldest {
			delete(f.seen, m)
		}
	}
}
