package live

import (
	"cmp"
	"slices"
	"strings"
)

// queue holds the allocations that are to be judged, each once.
type queue struct {
	waiting map[string]turn
}

// turn is one allocation's place in the queue.
type turn struct {
	id          string
	urgent      bool  // something arrived that may change the verdict: a lifecycle event, a failure
	since       int64 // the time of arrival of the oldest record that waits; 0 where none does
	told        int64 // the same of what is urgent
	invalidated int64 // since when something unattributed may concern it, or a deadline may have passed; 0 where it is not known
}

func newQueue() *queue { return &queue{waiting: map[string]turn{}} }

// add notes that an allocation is to be judged.
func (q *queue) add(id string, urgent bool, arrived int64) {
	t, again := q.waiting[id]
	if !again {
		t.id = id
	}
	t.urgent = t.urgent || urgent
	if arrived != 0 && (t.since == 0 || arrived < t.since) {
		t.since = arrived
	}
	if urgent && arrived != 0 && (t.told == 0 || arrived < t.told) {
		t.told = arrived
	}
	q.waiting[id] = t
}

// invalidate notes that something which is nobody's may concern an allocation.
func (q *queue) invalidate(id string, since int64) {
	t := q.waiting[id]
	if t.id = id; t.invalidated == 0 {
		t.invalidated = since
	}
	q.waiting[id] = t
}

// all gives everyone's turn: what is urgent first, then whoever waits longest; those without a record of their own, for
// whom time passed or others spoke, last.
func (q *queue) all() []turn {
	out := make([]turn, 0, len(q.waiting))
	for _, t := range q.waiting {
		out = append(out, t)
	}
	rank := func(t turn) int {
		switch {
		case t.urgent:
			return 0
		case t.since != 0:
			return 1
		}
		return 2
	}
	slices.SortFunc(out, func(a, b turn) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.told, b.told), cmp.Compare(a.since, b.since), cmp.Compare(a.invalidated, b.invalidated), strings.Compare(a.id, b.id))
	})
	return out
}

func (q *queue) done(id string) { delete(q.waiting, id) }
func (q *queue) len() int       { return len(q.waiting) }
