// Package needles finds which of many words stand in a text, in one pass over it.
package needles

import (
	"slices"
	"strings"
)

// Word is what is looked for, and whose it is.
type Word struct {
	Text  string
	Owner int
}

// Set is a number of words, each with its owner. Thousands of them are looked for in every record, and asking for one after the other costs more than all
// else that the judge does. A text is passed over in steps of two bytes, four bytes at a time (a window); a word is known by two windows of its own, one for
// each parity of the place at which it begins.
type Set struct {
	windows [1 << 13]uint64 // a bit by hash of a window: most windows of a text are no word's
	buckets [][]needle      // by a part of that hash
	tiny    []Word          // words that are too short to have a window
}

const (
	windowBytes = 4
	step        = 2
)

// needle is a word by one of its windows, which begins so many bytes behind its begin; -1: before it.
type needle struct {
	window uint32
	offset int
	Word
}

// New makes a set. Of the windows of a word those are taken that fewest words have: what many words have, many texts have.
func New(words []Word) *Set {
	n, shared := &Set{}, map[uint32]int{}
	for _, w := range words {
		for i := 0; i+windowBytes <= len(w.Text); i++ {
			shared[windowAt(w.Text, i)]++
		}
	}
	var all []needle
	for _, w := range words {
		if len(w.Text) < windowBytes-1 {
			n.tiny = append(n.tiny, w)
			continue
		}
		for parity := range step {
			all = append(all, needlesOf(w, parity, shared)...)
		}
	}
	size := 16
	for size < len(all) {
		size *= 2
	}
	n.buckets = make([][]needle, size)
	for _, w := range all {
		at := hashOf(w.window)
		n.windows[at>>6] |= 1 << (at & 63)
		i := int(at) & (size - 1)
		n.buckets[i] = append(n.buckets[i], w)
	}
	return n
}

// needlesOf are the windows by which a word is known that begins at a place of a parity. A word that is too short for a window of its own at that parity has
// one with each byte that may stand beside it; beside the end of a text stands none.
func needlesOf(w Word, parity int, shared map[uint32]int) (out []needle) {
	best := -1
	for i := parity; i+windowBytes <= len(w.Text); i += step {
		if best < 0 || shared[windowAt(w.Text, i)] < shared[windowAt(w.Text, best)] {
			best = i
		}
	}
	if best >= 0 {
		return []needle{{windowAt(w.Text, best), best, w}}
	}
	begin := uint32(w.Text[0]) | uint32(w.Text[1])<<8 | uint32(w.Text[2])<<16
	for beside := range uint32(1 << 8) {
		if parity == 0 {
			out = append(out, needle{begin | beside<<24, 0, w})
		} else {
			out = append(out, needle{begin<<8 | beside, -1, w})
		}
	}
	return out
}

// windowAt gives four bytes of a text.
func windowAt(text string, i int) uint32 {
	four := text[i : i+windowBytes]
	return uint32(four[0]) | uint32(four[1])<<8 | uint32(four[2])<<16 | uint32(four[3])<<24
}

// hashOf spreads windows over the bits (Knuth's multiplicative hash).
func hashOf(window uint32) uint32 { return window * 2654435761 >> 13 }

// Of gives a set of words that belong to nobody.
func Of(words ...string) *Set {
	list := make([]Word, len(words))
	for i, w := range words {
		list[i].Text = w
	}
	return New(list)
}

// Least gives words sorted, without those that hold a shorter one: whatever holds them holds that.
func Least(words []string) []string {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return slices.ContainsFunc(words, func(other string) bool { return other != word && strings.Contains(word, other) })
	})
}

// Any says whether one of the words stands in the text.
func (n *Set) Any(text string) bool {
	found := false
	n.In(text, func(int, int) { found = true })
	return found
}

// In calls found with the owner of every word that stands in the text and with where it begins, once for each place, in no order.
func (n *Set) In(text string, found func(owner, at int)) {
	i := 0
	for ; i+windowBytes <= len(text); i += step {
		window := windowAt(text, i)
		if at := hashOf(window); n.windows[at>>6]&(1<<(at&63)) != 0 {
			n.around(text, i, window, found)
		}
	}
	if i+windowBytes-1 == len(text) {
		window := uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16
		if at := hashOf(window); n.windows[at>>6]&(1<<(at&63)) != 0 {
			n.around(text, i, window, found)
		}
	}
	for _, w := range n.tiny {
		for at := 0; at <= len(text)-len(w.Text); at++ {
			if strings.HasPrefix(text[at:], w.Text) {
				found(w.Owner, at)
			}
		}
	}
}

// around calls found for the words that have a window at a place of the text.
func (n *Set) around(text string, i int, window uint32, found func(owner, at int)) {
	bucket := n.buckets[int(hashOf(window))&(len(n.buckets)-1)]
	for k := range bucket {
		w := &bucket[k]
		if w.window != window {
			continue
		}
		if at := i - w.offset; at >= 0 && at < len(text) && strings.HasPrefix(text[at:], w.Text) {
			found(w.Owner, at)
		}
	}
}
