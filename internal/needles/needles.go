// Package needles finds which of many words stand in a text, in one pass over it.
package needles

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Set is a number of words, each with its owner. Words are found by their first four bytes: hundreds of them are looked for in
// every line that tells of a failure, and asking for one after the other costs more than all else that the judge does.
type Set struct {
	heads   [1 << 10]uint64 // a bit by hash of a head: most places of a text begin no word
	buckets [][]needle      // by a part of that hash
	words   int             // in the buckets
	short   []needle        // words of fewer bytes than a head
}

const headBytes = 4

type needle struct {
	word  string
	owner int
}

// Add puts a word in.
func (n *Set) Add(word string, owner int) {
	if len(word) < headBytes {
		n.short = append(n.short, needle{word, owner})
		return
	}
	if n.words++; n.words > len(n.buckets) {
		n.grow()
	}
	n.file(needle{word, owner})
	at := hashOf(binary.LittleEndian.Uint32([]byte(word)))
	n.heads[at>>6] |= 1 << (at & 63)
}

// file puts a word into its bucket.
func (n *Set) file(w needle) {
	i := int(hashOf(binary.LittleEndian.Uint32([]byte(w.word)))) & (len(n.buckets) - 1)
	n.buckets[i] = append(n.buckets[i], w)
}

// grow doubles the buckets: there are a power of two of them, and as many as words at least.
func (n *Set) grow() {
	before := n.buckets
	n.buckets = make([][]needle, max(16, 2*len(before)))
	for _, list := range before {
		for _, w := range list {
			n.file(w)
		}
	}
}

// hashOf spreads heads over the bits (Knuth's multiplicative hash).
func hashOf(head uint32) uint32 { return head * 2654435761 >> 16 }

// Of gives a set of words that belong to nobody.
func Of(words ...string) *Set {
	n := &Set{}
	for _, w := range words {
		n.Add(w, 0)
	}
	return n
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
	n.In(text, func(int) { found = true })
	return found
}

// In calls found with the owner of every word that stands in the text, once for each place.
func (n *Set) In(text string, found func(owner int)) {
	if len(text) >= headBytes {
		head := uint32(text[0])<<8 | uint32(text[1])<<16 | uint32(text[2])<<24
		for i := headBytes - 1; i < len(text); i++ {
			head = head>>8 | uint32(text[i])<<24
			at := hashOf(head)
			if n.heads[at>>6]&(1<<(at&63)) == 0 {
				continue
			}
			begin := i - headBytes + 1
			for _, w := range n.buckets[int(at)&(len(n.buckets)-1)] {
				if text[begin] == w.word[0] && strings.HasPrefix(text[begin:], w.word) {
					found(w.owner)
				}
			}
		}
	}
	for _, w := range n.short {
		if strings.Contains(text, w.word) {
			found(w.owner)
		}
	}
}
