// Package near finds what somebody may have meant who named something that is not there.
package near

import (
	"cmp"
	"slices"
	"strings"
)

// Words gives the candidates nearest to a word, at most so many: of those with no more than a slip for every three letters,
// a swap of neighbours counting as one, the ones with the fewest; then those that go on where the word ends, or end where
// it goes on.
func Words(word string, candidates []string, most int) []string {
	type hit struct {
		text     string
		distance int
	}
	const begins = 1 << 20 // a distance beyond all others
	best := begins
	var hits []hit
	folded := strings.ToLower(word)
	seen := map[string]bool{word: true, "": true}
	for _, c := range candidates {
		if seen[c] {
			continue
		}
		seen[c] = true
		other := strings.ToLower(c)
		bound := max(1, (min(len([]rune(folded)), len([]rune(other)))+1)/3)
		if d := distance(folded, other, bound); d <= bound {
			hits, best = append(hits, hit{c, d}), min(best, d)
		} else if len(folded) >= 3 && strings.HasPrefix(other, folded) || len(other) >= 3 && strings.HasPrefix(folded, other) {
			hits = append(hits, hit{c, begins})
		}
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return h.distance > best && h.distance < begins })
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.text, b.text))
	})
	var out []string
	for _, h := range hits[:min(len(hits), most)] {
		out = append(out, h.text)
	}
	return out
}

// distance counts the letters to add, drop, change or swap with their neighbour to make a into b (optimal string
// alignment). Beyond bound it may give any number above it.
func distance(a, b string, bound int) int {
	x, y := []rune(a), []rune(b)
	if n := len(x) - len(y); n > bound || -n > bound {
		return bound + 1
	}
	before, above, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		above[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			change := above[j]
			if x[i] != y[j] {
				change++
			}
			row[j+1] = min(change, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}
