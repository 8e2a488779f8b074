package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/needles"
)

// Words are the words of rules that make a record worth reading whatever its severity is.
type Words struct {
	all []string
	set needles.Set
}

// NewWords gathers the words of rules.
func NewWords(rules []Rule) *Words {
	w := &Words{}
	for _, r := range rules {
		w.all = append(w.all, r.Words...)
	}
	slices.Sort(w.all)
	w.all = slices.Compact(w.all)
	w.all = slices.DeleteFunc(slices.Clone(w.all), func(word string) bool { // whoever holds it holds a shorter one
		return slices.ContainsFunc(w.all, func(other string) bool { return other != word && strings.Contains(word, other) })
	})
	for i, word := range w.all {
		w.set.Add(word, i)
	}
	return w
}

// List gives them, sorted, in lower case.
func (w *Words) List() []string { return w.all }

// In says whether one of them stands in what an event says.
func (w *Words) In(e *Event) bool { return w.set.Any(e.Text) }
