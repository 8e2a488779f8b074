package live

import (
	"hash/maphash"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// Lines are of one kind here as they are in the store, which takes words with digits out by this expression (correlator/clickhouse).
func TestLinesAreOfAKindWithoutTheirWordsWithDigits(t *testing.T) {
	digits := regexp.MustCompile(`[^\s/"?&=,;:()\[\]{}|]*[0-9][^\s/"?&=,;:()\[\]{}|]*`)
	seed := maphash.MakeSeed()
	line := rapid.StringOfN(rapid.RuneFrom([]rune("ab19 /\"?&=,;:()[]{}|\t-.é")), 0, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := line.Draw(t, "a"), line.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = digits.ReplaceAllString(a, "7")
			if digits.ReplaceAllString(b, "") != digits.ReplaceAllString(a, "") {
				t.Skip("not alike after all")
			}
		}
		same := digits.ReplaceAllString(a, "") == digits.ReplaceAllString(b, "")
		if got := wordsWithoutDigits(seed, a) == wordsWithoutDigits(seed, b); got != same {
			t.Fatalf("%q and %q: of a kind %t, in the store %t", a, b, got, same)
		}
	})
}
