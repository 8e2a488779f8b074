package correlator

import (
	"iter"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Names says whether an event speaks of a node: by its identifier, or by naming it in its words.
func Names(e *Event, node string) bool {
	if node == "" {
		return false
	}
	if e.Node != "" {
		return e.Node == node
	}
	return e.Attr(semconv.HostName) == node || mentions(e.Text, strings.ToLower(node)) ||
		mentions(strings.ToLower(e.Attr(semconv.TLSPeerSubject)), strings.ToLower(node))
}

// NodeWords are the words of an event that may name a node, in lower case: its identifier or host's name, and every word of
// what it says.
func NodeWords(e *Event) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(strings.ToLower(firstOf(e.Node, e.Attr(semconv.HostName)))) {
			return
		}
		for _, text := range []string{e.Text, strings.ToLower(e.Attr(semconv.TLSPeerSubject))} {
			for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) }) {
				if !yield(word) {
					return
				}
			}
		}
	}
}

// mentions finds a whole word; "node-1" is not mentioned by "node-12".
func mentions(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func wordByte(b byte) bool {
	return b == '-' || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z'
}
