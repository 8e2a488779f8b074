package rules

import (
	"slices"
	"strings"
	"testing"
)

// The words are found whatever stands around them: reading by one pass and by asking every signature agree.
func TestEverySignatureIsAskedForItsWords(t *testing.T) {
	for i := range table().signatures {
		for _, w := range slices.Concat(table().signatures[i].Any, table().signatures[i].Loud) {
			hits, _ := asking("x "+w+" y", nil)
			if !slices.ContainsFunc(hits, func(h hit) bool { return h.signature == i && h.at == len("x ") }) {
				t.Errorf("%s is not asked about %q", table().signatures[i].ID, w)
			}
		}
	}
}

// A cause that signatures.yaml finds by a word without conditions has one name: the families do not say that word again.
func TestWordsAreSaidOnce(t *testing.T) {
	for _, family := range table().signatures {
		for _, s := range table().signatures {
			if !family.family || s.family || len(s.All) > 0 || s.Layer != family.Layer || s.Mechanism != family.Mechanism {
				continue
			}
			for _, w := range family.Any {
				if slices.ContainsFunc(s.Any, func(x string) bool { return strings.Contains(w, x) || strings.Contains(x, w) }) {
					t.Errorf("%s says %q, which is %s's", family.ID, w, s.ID)
				}
			}
		}
	}
}
