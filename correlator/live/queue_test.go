package live

import (
	"slices"
	"testing"
)

// Whoever has something of their own to tell goes before those of whom others spoke, and of these whoever waits longest.
func TestTurns(t *testing.T) {
	q := newQueue()
	q.invalidate("a-others", 3)
	q.invalidate("a-others-first", 1)
	q.invalidate("a-others-first", 9)
	q.add("a-sweep", false, 0)
	q.add("a-record", false, 5)
	q.add("a-trouble", true, 7)
	q.add("a-trouble-first", true, 6)
	q.invalidate("a-both", 1)
	q.add("a-both", true, 8)
	var got []string
	for _, turn := range q.all() {
		got = append(got, turn.id)
	}
	want := []string{"a-trouble-first", "a-trouble", "a-both", "a-record", "a-sweep", "a-others-first", "a-others"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
