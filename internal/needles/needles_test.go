package needles

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// One pass finds what one search after the other finds.
func TestNeedlesFindWhatContainsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab é")), 1, 8, -1), 1, 12).Draw(t, "words")
		text := rapid.StringOf(rapid.SampledFrom([]rune("abc é"))).Draw(t, "text")
		list := make([]Word, len(words))
		for i, w := range words {
			list[i] = Word{w, i}
		}
		n := New(list)
		last, places := map[int]int{}, 0
		n.In(text, func(i, at int) { last[i], places = max(last[i], at+1), places+1 })
		want := 0
		for i, w := range words {
			if last[i]-1 != strings.LastIndex(text, w) {
				t.Errorf("%q in %q: last at %d", w, text, last[i]-1)
			}
			for at := range text {
				if strings.HasPrefix(text[at:], w) {
					want++
				}
			}
		}
		if places != want {
			t.Errorf("%q: %d places of %q, not %d", text, places, words, want)
		}
	})
}
