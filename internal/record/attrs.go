package record

import (
	"cmp"
	"slices"
)

// Attr is one attribute; values that are not text are written as OTLP writes them in text.
type Attr struct{ Key, Value string }

// Attrs are attributes sorted by key, each key once.
type Attrs []Attr

// Get gives the value of a key and whether it is there.
func (a Attrs) Get(key string) (string, bool) {
	for i := range a {
		if a[i].Key == key {
			return a[i].Value, true
		}
	}
	return "", false
}

// Sort brings attributes into their order; of a key that stands twice the first wins.
func (a Attrs) Sort() Attrs {
	slices.SortStableFunc(a, func(x, y Attr) int { return cmp.Compare(x.Key, y.Key) })
	return slices.CompactFunc(a, func(x, y Attr) bool { return x.Key == y.Key })
}

// FromMap gives the sorted attributes of a map.
func FromMap(m map[string]string) Attrs {
	if len(m) == 0 {
		return nil
	}
	out := make(Attrs, 0, len(m))
	for k, v := range m {
		out = append(out, Attr{k, v})
	}
	return out.Sort()
}

// Map gives the attributes as a map, never nil.
func (a Attrs) Map() map[string]string {
	out := make(map[string]string, len(a))
	for i := range a {
		out[a[i].Key] = a[i].Value
	}
	return out
}
