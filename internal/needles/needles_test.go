package needles

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// One pass finds what one search after the other finds.
func TestNeedlesFindWhatContainsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab é")), 1, 5, -1), 1, 12).Draw(t, "words")
		text := rapid.StringOf(rapid.SampledFrom([]rune("abc é"))).Draw(t, "text")
		var n Set
		for i, w := range words {
			n.Add(w, i)
		}
		got := map[int]bool{}
		n.In(text, func(i int) { got[i] = true })
		for i, w := range words {
			if got[i] != strings.Contains(text, w) {
				t.Errorf("%q in %q: %v", w, text, got[i])
			}
		}
	})
}
