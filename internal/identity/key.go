package identity

import "strings"

// MaxIDBytes bounds an identifier; longer ones are refused as keys, because a hostile or broken source
// would otherwise fill the index with text that is no identifier.
const MaxIDBytes = 512

// Key is one identifier of one kind.
type Key struct {
	Kind Kind
	ID   string
}

// Keys are the identifiers that a record carries by itself, in the order in which they were found.
type Keys []Key

// First is the first identifier of a kind, "" where there is none.
func (ks Keys) First(k Kind) string {
	for i := range ks {
		if ks[i].Kind == k {
			return ks[i].ID
		}
	}
	return ""
}

// Has says whether this very key is among them.
func (ks Keys) Has(key Key) bool {
	for i := range ks {
		if ks[i] == key {
			return true
		}
	}
	return false
}

// Add appends a key unless it is there already or is no identifier (empty, too long).
func (ks Keys) Add(k Kind, id string) Keys {
	key := Key{k, id}
	if !ValidID(id) || ks.Has(key) {
		return ks
	}
	return append(ks, key)
}

// ValidID says whether text can be an identifier: not empty, at most MaxIDBytes, no spaces around it
// and no control characters.
func ValidID(id string) bool {
	if id == "" || len(id) > MaxIDBytes || id != strings.TrimSpace(id) {
		return false
	}
	for i := 0; i < len(id); i++ {
		if id[i] < ' ' || id[i] == 0x7f {
			return false
		}
	}
	return true
}
