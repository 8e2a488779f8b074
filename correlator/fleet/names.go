package fleet

import (
	"maps"
	"slices"
)

// Bounds of labels whose values telemetry brings.
const (
	mostProviders   = 20
	mostProjections = 20
	mostSources     = 100
)

// other stands for what has no name of its own.
const other = "other"

// names are values of a label: those that came first keep their names, the rest is "other".
type names struct {
	most   int
	known  map[string]bool
	others bool
}

func newNames(most int) *names { return &names{most: most, known: map[string]bool{}} }

func (n *names) of(value string) string {
	switch {
	case n.known[value]:
		return value
	case value == "" || value == other || len(n.known) == n.most:
		n.others = true
		return other
	}
	n.known[value] = true
	return value
}

// all are those that have been named, sorted, and other at the end where something was.
func (n *names) all() []string {
	out := slices.Sorted(maps.Keys(n.known))
	if n.others {
		out = append(out, other)
	}
	return out
}
