package lokiexporter

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/faultline-io/faultline/internal/record"
)

// pair is one name and value of structured metadata.
type pair struct{ name, value string }

// pairs are structured metadata of a record, or what all records of a resource share. A name stands once: the first counts.
type pairs struct {
	list []pair
	size int // of names and values, as Loki counts it
}

func (p *pairs) reset() { p.list, p.size = p.list[:0], 0 }

func (p *pairs) add(name, value string) {
	if value == "" {
		return
	}
	p.list = append(p.list, pair{name, value})
	p.size += len(name) + len(value)
}

// has looks for a name. Names come from one table, so that equal ones are the same string.
func (p *pairs) has(name string) bool {
	for i := range p.list {
		if p.list[i].name == name {
			return true
		}
	}
	return false
}

// once leaves the first of each name.
func (p *pairs) once() {
	if len(p.list) > manyPairs {
		seen := make(map[string]bool, len(p.list))
		p.keep(func(one pair) bool { was := seen[one.name]; seen[one.name] = true; return !was })
		return
	}
	for i := 1; i < len(p.list); i++ {
		for j := range i {
			if p.list[i].name == p.list[j].name {
				p.size -= len(p.list[i].name) + len(p.list[i].value)
				p.list = slices.Delete(p.list, i, i+1)
				i--
				break
			}
		}
	}
}

// manyPairs is from where on a map finds names faster than looking at each.
const manyPairs = 64

func (p *pairs) keep(which func(pair) bool) {
	kept := p.list[:0]
	p.size = 0
	for _, one := range p.list {
		if which(one) {
			kept = append(kept, one)
			p.size += len(one.name) + len(one.value)
		}
	}
	p.list = kept
}

// fit makes room: identifiers come first, then what the record says, then its resource. A value that does not fit whole is cut,
// what comes after it is left out. It returns how many were.
func (p *pairs) fit(entries, bytes int) (clipped int) {
	if len(p.list) <= entries && p.size <= bytes {
		return 0
	}
	slices.SortStableFunc(p.list, func(a, b pair) int {
		switch one, other := identifiers[a.name], identifiers[b.name]; {
		case one == other:
			return 0
		case one:
			return -1
		}
		return 1
	})
	kept, size := p.list[:0], 0
	for _, one := range p.list {
		room := bytes - size - len(one.name)
		if len(kept) == entries || room <= 0 {
			clipped++
			continue
		}
		if len(one.value) > room {
			one.value = record.Truncate(one.value, room)
			clipped++
		}
		if one.value != "" {
			kept = append(kept, one)
			size += len(one.name) + len(one.value)
		}
	}
	p.list, p.size = kept, size
	return clipped
}

// append writes them as fields of an entry.
func (p *pairs) append(to []byte) []byte {
	for _, one := range p.list {
		to = one.append(to)
	}
	return to
}

// encoded is their size as append writes them.
func (p *pairs) encoded() (n int) {
	for _, one := range p.list {
		n += 1 + protowire.SizeBytes(sizeOfText(one.name)+sizeOfText(one.value))
	}
	return n
}

// Fields of the messages in push.proto of github.com/grafana/loki/pkg/push.
const (
	requestStreams = 1
	streamLabels   = 1
	streamEntries  = 2
	entryTimestamp = 1
	entryLine      = 2
	entryMetadata  = 3
	pairName       = 1
	pairValue      = 2
	timeSeconds    = 1
	timeNanos      = 2
)

func (p pair) append(to []byte) []byte {
	if size := sizeOfText(p.name) + sizeOfText(p.value); size < 1<<7 { // as nearly all: every length is one byte
		to = append(to, entryMetadata<<3|byte(protowire.BytesType), byte(size), pairName<<3|byte(protowire.BytesType), byte(len(p.name)))
		to = append(to, p.name...)
		to = append(to, pairValue<<3|byte(protowire.BytesType), byte(len(p.value)))
		return append(to, p.value...)
	}
	to = protowire.AppendTag(to, entryMetadata, protowire.BytesType)
	to = protowire.AppendVarint(to, uint64(sizeOfText(p.name)+sizeOfText(p.value)))
	to = appendText(to, pairName, p.name)
	return appendText(to, pairValue, p.value)
}

// sizeOfText is the size of a text with its tag; all our field numbers take one byte.
func sizeOfText(s string) int { return 1 + protowire.SizeBytes(len(s)) }

func appendText(to []byte, field protowire.Number, s string) []byte {
	to = protowire.AppendTag(to, field, protowire.BytesType)
	return protowire.AppendString(to, s)
}
