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
	short   []needle        // words that are too short to have a head
}

// A word of one byte less than a head has a head with each byte that may follow it; of the end of a text, none follows.
const headBytes = 4

type needle struct {
	head  uint32
	word  string
	owner int
}

// Add puts a word in.
func (n *Set) Add(word string, owner int) {
	switch {
	case len(word) >= headBytes:
		n.add(needle{binary.LittleEndian.Uint32([]byte(word)), word, owner})
	case len(word) == headBytes-1:
		head := uint32(word[0]) | uint32(word[1])<<8 | uint32(word[2])<<16
		for next := range uint32(1 << 8) {
			n.add(needle{head | next<<24, word, owner})
		}
	default:
		n.short = append(n.short, needle{word: word, owner: owner})
	}
}

func (n *Set) add(w needle) {
	if n.words++; n.words > len(n.buckets) {
		n.grow()
	}
	n.file(w)
	at := hashOf(w.head)
	n.heads[at>>6] |= 1 << (at & 63)
}

// file puts a word into its bucket.
func (n *Set) file(w needle) {
	i := int(hashOf(w.head)) & (len(n.buckets) - 1)
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
	n.In(text, func(int, int) { found = true })
	return found
}

// In calls found with the owner of every word that stands in the text and with where it begins, once for each place.
func (n *Set) In(text string, found func(owner, at int)) {
	if len(text) >= headBytes-1 && n.words > 0 {
		head := uint32(text[0])<<8 | uint32(text[1])<<16 | uint32(text[2])<<24
		for i := headBytes - 1; i < len(text); i++ {
			head = head>>8 | uint32(text[i])<<24
			if at := hashOf(head); n.heads[at>>6]&(1<<(at&63)) != 0 {
				n.beginAt(text, i-headBytes+1, head, found)
			}
		}
		if head >>= 8; n.heads[hashOf(head)>>6]&(1<<(hashOf(head)&63)) != 0 {
			n.beginAt(text, len(text)-headBytes+1, head, found)
		}
	}
	for _, w := range n.short {
		for at := 0; at <= len(text)-len(w.word); at++ {
			if strings.HasPrefix(text[at:], w.word) {
				found(w.owner, at)
			}
		}
	}
}

// beginAt calls found for the words that begin at a place of the text.
func (n *Set) beginAt(text string, at int, head uint32, found func(owner, at int)) {
	for _, w := range n.buckets[int(hashOf(head))&(len(n.buckets)-1)] {
		if w.head == head && strings.HasPrefix(text[at:], w.word) {
			found(w.owner, at)
		}
	}
}
