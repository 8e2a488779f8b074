package rules

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// One pass finds what one search after the other finds.
func TestNeedlesFindWhatContainsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab é")), 1, 5, -1), 1, 12).Draw(t, "words")
		text := rapid.StringOf(rapid.SampledFrom([]rune("abc é"))).Draw(t, "text")
		var n needles
		for i, w := range words {
			n.add(w, i)
		}
		got := map[int]bool{}
		n.in(text, func(i int) { got[i] = true })
		for i, w := range words {
			if got[i] != strings.Contains(text, w) {
				t.Errorf("%q in %q: %v", w, text, got[i])
			}
		}
	})
}

// The words are found whatever stands around them: reading by one pass and by asking every signature agree.
func TestEverySignatureIsAskedForItsWords(t *testing.T) {
	for i := range table().signatures {
		for _, w := range table().signatures[i].Any {
			if !slices.Contains(asking("x "+w+" y"), i) {
				t.Errorf("%s is not asked about %q", table().signatures[i].ID, w)
			}
		}
	}
}
