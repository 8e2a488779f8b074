package record

import "cmp"

// compare is a total order over what records say, used where two with one key differ: the smaller
// serialisation wins, whichever came first.
func compare(a, b *Record) int {
	if c := cmp.Compare(a.Time, b.Time); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Body, b.Body); c != 0 {
		return c
	}
	return cmp.Compare(a.Content(), b.Content())
}

// Merge makes one of two records that have the same key: the smaller serialisation, with the earliest
// times at which anyone saw it. conflict says that they did not say the same.
func Merge(a, b *Record) (merged *Record, conflict bool) {
	conflict = a.Content() != b.Content()
	if compare(b, a) < 0 {
		a, b = b, a
	}
	m := *a
	m.Observed, m.Ingested = earliest(a.Observed, b.Observed), earliest(a.Ingested, b.Ingested)
	return &m, conflict
}

func earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
