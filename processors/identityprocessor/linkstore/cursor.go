package linkstore

import (
	"slices"
	"time"
)

// cursor is how far the links were read. Times are the store's, in Unix microseconds.
//
// Up to its place all was read that may still become visible. From there on rows may appear in any
// order, so there it is a list: which inserts were read, and how many rows of each. No row is carried
// over twice, however long the overlap is; what is remembered is a pair of numbers for each insert of
// the overlap.
type cursor struct {
	overlap time.Duration
	place   int64            // 0: nothing was read yet
	read    map[int64]uint64 // rows, by stamp
}

func newCursor(overlap time.Duration) *cursor {
	return &cursor{overlap: overlap, read: map[int64]uint64{}}
}

// reach is how far back a look lists inserts one by one. It begins at the place where looks follow each
// other within an overlap; what is older than that is read as a whole, see gap.
func (c *cursor) reach() time.Duration { return 2 * c.overlap }

// gap is the stretch before the reach that was not read yet: at the start, and after the store was away.
// It goes back no further than maxAge and is empty where from is not before to.
func (c *cursor) gap(now int64, maxAge time.Duration) (from, to int64) {
	return max(c.place, now-maxAge.Microseconds()), now - c.reach().Microseconds()
}

// unread lists the inserts of which more is visible than was read, oldest first.
func (c *cursor) unread(r recent) []int64 {
	var out []int64
	for i, stamp := range r.stamps {
		if r.visible[i] > c.read[stamp] {
			out = append(out, stamp)
		}
	}
	slices.Sort(out)
	return out
}

// advance notes that all of a look was read. What is stamped before the new place had its overlap.
func (c *cursor) advance(r recent) {
	for i, stamp := range r.stamps {
		c.read[stamp] = max(c.read[stamp], r.visible[i])
	}
	c.place = max(c.place, r.now-c.overlap.Microseconds())
	for stamp := range c.read {
		if stamp < c.place {
			delete(c.read, stamp)
		}
	}
}
