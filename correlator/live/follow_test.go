package live

import (
	"fmt"
	"testing"
	"time"
)

// Rows become visible late and in another order; each is given once, and the follower learns how far it
// has to look back.
func TestFollow(t *testing.T) {
	st := newStore(t)
	start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	f := newFollower(st, start)
	n, at := 0, start
	put := func(ingested time.Time) {
		n++
		st.take(ingested, parse(t, fmt.Sprintf("10:00:00 api info | line %d", n))...)
	}
	look := func(want int) {
		t.Helper()
		at = at.Add(500 * time.Millisecond)
		got, err := f.look(t.Context(), at)
		if err != nil || len(got) != want {
			t.Errorf("%v: %d records, want %d: %v", at.Sub(start), len(got), want, err)
		}
	}
	put(start.Add(time.Second))
	put(start.Add(time.Second))
	look(2)
	look(0)
	put(start.Add(500 * time.Millisecond)) // stamped before, visible now
	look(1)
	put(start.Add(10 * time.Second))
	look(1)
	put(start.Add(6 * time.Second)) // later than a look goes back
	look(0)
	at = at.Add(longEvery)
	look(1)
	put(start.Add(4 * time.Second)) // by now it goes back so far
	look(1)
	put(start.Add(-time.Second)) // beyond what is followed
	at = at.Add(longEvery)
	look(0)
}
