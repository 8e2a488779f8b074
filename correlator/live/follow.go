package live

import (
	"context"
	"time"

	"github.com/faultline-io/faultline/internal/record"
)

// Feed gives records in the order in which the store took them.
type Feed interface {
	// Arrivals gives at most so many records after a mark, and the mark of the last one; none where nothing
	// arrived. A record may become visible a little after others with a later mark.
	Arrivals(ctx context.Context, after Mark, most int) ([]*record.Record, Mark, error)
}

// Mark is a place in a feed.
type Mark struct {
	Ingested int64 // when the store took the record, Unix nanoseconds
	Key      string
}

// Rows become visible in another order than that of their ingestion: a batch is stamped before it is
// sent, and a busy store takes its time. Every look goes back as far as twice what was late lately, and now
// and then further: what becomes visible within longOverlap of its stamp is followed; anything later is
// read with the whole story, when somebody asks.
const (
	shortOverlap = time.Second
	longOverlap  = 30 * time.Second
	longEvery    = 10 * time.Second
	pageSize     = 20_000
	maxPages     = 5 // a look; the rest comes with the next
)

// follower reads a feed without gaps and without repeating itself.
type follower struct {
	feed   Feed
	mark   Mark // how far everything was read
	back   time.Time
	seen   map[string]int64 // keys of the last minute, by time of ingestion
	behind bool             // there is more
	begun  bool
	late   time.Duration // how late rows became visible lately, at most
}

func newFollower(feed Feed, from time.Time) *follower {
	return &follower{feed: feed, mark: Mark{Ingested: from.UnixNano()}, back: from, seen: map[string]int64{}}
}

// look gives what is new.
func (f *follower) look(ctx context.Context, now time.Time) ([]*record.Record, error) {
	at := f.mark
	if !f.behind {
		back := min(max(shortOverlap, 2*f.late), longOverlap)
		if now.Sub(f.back) >= longEvery {
			back, f.back = longOverlap, now
		}
		at = Mark{Ingested: f.mark.Ingested - int64(back)}
	}
	var out []*record.Record
	reached := f.mark.Ingested
	f.behind, f.late = false, f.late*49/50
	for page := range maxPages {
		found, next, err := f.feed.Arrivals(ctx, at, pageSize)
		if err != nil {
			return out, err
		}
		for _, r := range found {
			key := r.Key()
			if at, again := f.seen[key]; again && at == r.Ingested {
				continue
			}
			f.seen[key] = r.Ingested
			if f.begun {
				f.late = max(f.late, time.Duration(reached-r.Ingested))
			}
			out = append(out, r)
		}
		if at = next; at.Ingested > f.mark.Ingested {
			f.mark = at
		}
		if len(found) < pageSize {
			break
		}
		f.behind = page == maxPages-1
	}
	f.begun = true
	f.forget()
	return out, nil
}

// forget lets go of keys that no overlap reaches any more.
func (f *follower) forget() {
	if len(f.seen) < 2*pageSize {
		return
	}
	oldest := f.mark.Ingested - int64(2*longOverlap)
	for key, at := range f.seen {
		if at < oldest {
			delete(f.seen, key)
		}
	}
}
