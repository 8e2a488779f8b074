package near_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/near"
)

func TestWords(t *testing.T) {
	f := func(word string, candidates []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, near.Words(word, candidates, 3)); diff != "" {
			t.Errorf("%s: %s", word, diff)
		}
	}
	nodes := []string{"gpu-17", "gpu-7", "gpu-99", "cpu-1", "rack-71", "", "gpu-17"}
	f("gpu-71", nodes, "gpu-17", "gpu-7")
	f("GPU-17", nodes, "gpu-17")
	f("gpu-17", nodes, "gpu-7")
	f("lsit", []string{"list", "stuck", "watch"}, "list")
	f("0af76519", []string{"0af7651916cd43dd8448eb211c80319c", "b7ad"}, "0af7651916cd43dd8448eb211c80319c")
	f("a-1", []string{"b-9", "zzz"})
	f("", []string{"long"})
	f("größe-1", []string{"größe-2", "grösse"}, "größe-2")
}

// Two neighbours that were swapped, one letter that is missing or too many are found, wherever they stand.
func TestOneSlipIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := []rune(rapid.StringMatching(`[a-z0-9]{4,20}`).Draw(t, "word"))
		at := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		swapped := append([]rune(nil), word...)
		swapped[at], swapped[at+1] = swapped[at+1], swapped[at]
		dropped := append(append([]rune(nil), word[:at]...), word[at+1:]...)
		for _, slip := range []string{string(swapped), string(dropped)} {
			if slip == string(word) {
				continue
			}
			if got := near.Words(slip, []string{string(word)}, 1); len(got) != 1 {
				t.Fatalf("%s is not found for %s", string(word), slip)
			}
		}
	})
}
