package clickhouseexporter

import (
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// ownKinds have a column of their own, listKinds stand in keys_rest. A record's trace is neither: its column is OTLP's own field.
var ownKinds, listKinds = kindsIn(identity.InColumn), kindsIn(identity.InList)

func kindsIn(where identity.Storage) (kinds []identity.Kind) {
	for kind := range identity.Kinds() {
		if kind.Storage() == where {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// identifiers are those that a row says once, by their kind.
type identifiers [identity.MaxKinds]string

// identifiersOf gives what the emitter said, else what was stamped.
func identifiersOf(r *record.Record) (ids identifiers) {
	for _, kinds := range [...][]identity.Kind{ownKinds, listKinds} {
		for _, kind := range kinds {
			if ids[kind] = r.Keys.First(kind); ids[kind] == "" {
				ids[kind], _ = r.Stamped.Get(kind.Attribute())
			}
		}
	}
	return ids
}

// say tells whether the row says an identifier by itself, so that it need not be repeated.
func (ids *identifiers) say(kind identity.Kind, id string) bool {
	return kind.Storage() != identity.InField && ids[kind] == id
}

// keysWithout gives the keys of a record ("kind:id") that stand in no column, those that the row says once before second
// ones of a kind.
func keysWithout(r *record.Record, ids *identifiers) []string {
	var out []string
	for _, kind := range listKinds {
		if ids[kind] != "" {
			out = append(out, kind.String()+":"+ids[kind])
		}
	}
	for _, k := range r.Keys {
		if ids.say(k.Kind, k.ID) || k.Kind == identity.Trace && k.ID == r.TraceID {
			continue
		}
		out = append(out, k.Kind.String()+":"+k.ID)
	}
	return out
}
