// Package needles finds which of many words stand in a text, in one pass over it.
package needles

import "strings"

// Set is a number of words, each with its owner. Words are found by their first three bytes: hundreds of them are looked for in
// every line that tells of a failure, and asking for one after the other costs more than all else that the judge does.
type Set struct {
	byHead map[[headBytes]byte][]needle
	heads  [1 << 12]bool // by hash of a head: most places of a text begin no word
	short  []needle      // words of fewer bytes than a head
}

const headBytes = 3

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
	if n.byHead == nil {
		n.byHead = map[[headBytes]byte][]needle{}
	}
	head := [headBytes]byte([]byte(word))
	n.byHead[head] = append(n.byHead[head], needle{word, owner})
	n.heads[hashOf(word[0], word[1], word[2])] = true
}

func hashOf(a, b, c byte) uint16 { return (uint16(a)<<7 ^ uint16(b)<<4 ^ uint16(c)) & (1<<12 - 1) }

// In calls found with the owner of every word that stands in the text, once for each place.
func (n *Set) In(text string, found func(owner int)) {
	for i := 0; i+headBytes <= len(text); i++ {
		if !n.heads[hashOf(text[i], text[i+1], text[i+2])] {
			continue
		}
		for _, w := range n.byHead[[headBytes]byte{text[i], text[i+1], text[i+2]}] {
			if strings.HasPrefix(text[i:], w.word) {
				found(w.owner)
			}
		}
	}
	for _, w := range n.short {
		if strings.Contains(text, w.word) {
			found(w.owner)
		}
	}
}
