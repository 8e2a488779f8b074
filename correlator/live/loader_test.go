package live

import (
	"slices"
	"testing"

	"github.com/faultline-io/faultline/correlator/query"
)

// What something arrived of is read before what merely goes on, and each story once.
func TestUrgentStoriesAreReadFirst(t *testing.T) {
	l := newLoader(nil)
	for _, id := range []string{"a", "b", "c", "d"} {
		l.want(id, false, 0)
	}
	l.want("c", true, 0)
	l.want("c", true, 0)
	l.want("x", true, 0)
	var order []string
	for id, ok := l.next(); ok; id, ok = l.next() {
		order = append(order, id)
		l.want(id, true, 0) // it is under way
		l.read = append(l.read, loaded{id: id, records: &query.RecordSet{}})
	}
	if !slices.Equal(order, []string{"c", "x", "a", "b", "d"}) || l.behind() != 5 {
		t.Error(order, l.behind())
	}
	if got := l.take(); len(got) != 5 || l.behind() != 0 {
		t.Error(got, l.behind())
	}
	l.want("a", false, 0) // again, once it was taken
	if id, ok := l.next(); !ok || id != "a" {
		t.Error(id, ok)
	}
}
