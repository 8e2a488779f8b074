package profile

import (
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
)

// fields reads identifiers that stand in a line as name and value: allocation_id=a-1,
// "allocation_id": "a-1", {\"allocation_id\":\"a-1\"}. All names that end alike cost one search.
type fields struct {
	kinds   map[string]identity.Kind
	endings []string
}

// endingBytes is how much of a name is searched for; the rest is read backwards from there.
const endingBytes = 3

// with adds a name; the fields that were are left as they are.
func (f fields) with(name string, k identity.Kind) fields {
	out := fields{kinds: map[string]identity.Kind{name: k}, endings: append([]string(nil), f.endings...)}
	for n, kind := range f.kinds {
		if n != name {
			out.kinds[n] = kind
		}
	}
	ending := name[max(0, len(name)-endingBytes):]
	for _, e := range out.endings {
		if e == ending {
			return out
		}
	}
	out.endings = append(out.endings, ending)
	return out
}

// kinds is a set of kinds of identifiers.
type kinds uint32

func (k kinds) has(kind identity.Kind) bool { return k&(1<<kind) != 0 }

// single are the kinds of which a record names one: whose it is, and where it was.
const single = kinds(1<<identity.Allocation | 1<<identity.Node | 1<<identity.NodeInstance)

func kindsOf(keys identity.Keys) (out kinds) {
	for i := range keys {
		out |= 1 << keys[i].Kind
	}
	return out
}

// find adds what the fields of a line hold, of kinds that the record does not state elsewhere. A line
// that names two of one kind tells of neither whose it is, and both are left out.
func (f *fields) find(out identity.Keys, line string) identity.Keys {
	if len(f.endings) == 0 {
		return out
	}
	var room [identity.MaxKeysPerRecord]identity.Key
	found := identity.Keys(room[:0])
	stated, twice := kindsOf(out), kinds(0)
	for _, ending := range f.endings {
		for from := 0; len(found) < cap(found); {
			i := strings.Index(line[from:], ending)
			if i < 0 {
				break
			}
			end := from + i + len(ending)
			from = end
			begin := end - len(ending)
			for begin > 0 && isWord(line[begin-1]) {
				begin--
			}
			k, ok := f.kinds[line[begin:end]]
			if !ok || stated.has(k) || begin > 0 && (line[begin-1] == '.' || line[begin-1] == '-') {
				continue
			}
			id := fieldValue(line[end:])
			if id == "" {
				continue
			}
			if before := found.First(k); before != "" && before != id {
				twice |= 1 << k
			}
			found = found.Add(k, id)
		}
	}
	for _, key := range found {
		if !twice.has(key.Kind) {
			out = out.Add(key.Kind, key.ID)
		}
	}
	return out
}

// fieldValue is the identifier after a name, "" where none stands there.
func fieldValue(rest string) string {
	rest = strings.TrimLeft(rest, `\"'`)
	rest = strings.TrimLeft(rest, " ")
	if rest == "" || rest[0] != '=' && rest[0] != ':' {
		return ""
	}
	colon := rest[0] == ':'
	if rest = rest[1:]; colon { // after = a space is the end of an empty value
		rest = strings.TrimLeft(rest, " ")
	}
	rest = strings.TrimLeft(rest, `\"'`)
	end := 0
	for end < len(rest) && (isWord(rest[end]) || strings.IndexByte("-.:/@", rest[end]) >= 0) {
		end++
	}
	if end < len(rest) && rest[end] == '=' {
		return "" // the next name
	}
	id := strings.TrimRight(rest[:end], ".:/")
	if id == "" || !isWord(id[0]) || strings.Trim(id, "0-") == "" {
		return ""
	}
	switch id {
	case "null", "nil", "none", "None", "NULL", "undefined", "unknown", "true", "false":
		return ""
	}
	return id
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
