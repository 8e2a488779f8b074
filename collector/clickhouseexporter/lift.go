package clickhouseexporter

import (
	"encoding/json"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// lift leaves out the attributes that the row says as its identifiers, and gives their names,
// joined by commas: an identifier is stored once. via is "" for what the emitter said.
//
// An attribute that should be an identifier and cannot be one (too long, with control characters, with spaces around
// it) stays and is counted: nothing is found by it. An empty one says that there is none.
func (b *batch) lift(attrs record.Attrs, ids *[len(idKinds)]string, via string) (pairs, string) {
	var room [16]int
	lifted := room[:0]
	for i := range attrs {
		a := &attrs[i]
		if a.Key == viaAttribute {
			if via != "" && a.Value == via {
				lifted = append(lifted, i)
			}
			continue
		}
		kind := identity.KindOfAttribute(a.Key)
		if kind == identity.NoKind {
			continue
		}
		if at := columnOf[kind]; at >= 0 && ids[at] == a.Value {
			lifted = append(lifted, i)
		} else if unusable(a) {
			b.refusedIDs++
		}
	}
	if len(lifted) == 0 {
		return pairs(attrs), ""
	}
	rest := make(pairs, 0, len(attrs)-len(lifted))
	names := make([]string, 0, len(lifted))
	from := 0
	for _, at := range lifted {
		names = append(names, attrs[at].Key)
		rest = append(rest, attrs[from:at]...)
		from = at + 1
	}
	return append(rest, attrs[from:]...), strings.Join(names, ",")
}

func unusable(a *record.Attr) bool { return a.Value != "" && !identity.ValidID(a.Value) }

// columnOf gives the place in idKinds of each kind, -1 where it has none.
var columnOf = func() (of [64]int) {
	for i := range of {
		of[i] = -1
	}
	for i, kind := range idKinds {
		of[kind] = i
	}
	return of
}()

// keysWithout gives the keys of a record ("kind:id") that stand in no column, those that the row says once before second
// ones of a kind.
func keysWithout(r *record.Record, ids *[len(idKinds)]string) []string {
	var out []string
	for at := len(idColumns); at < len(idKinds); at++ {
		if ids[at] != "" {
			out = append(out, idKinds[at].String()+":"+ids[at])
		}
	}
	for _, k := range r.Keys {
		if at := columnOf[k.Kind]; at >= 0 && ids[at] == k.ID || k.Kind == identity.Trace && k.ID == r.TraceID {
			continue
		}
		out = append(out, k.Kind.String()+":"+k.ID)
	}
	return out
}

// resourceText is a resource as JSON; records of one resource come one after the other and share it.
func (b *batch) resourceText(resource record.Attrs) string {
	if len(resource) == 0 {
		return ""
	}
	if !same(b.latest, resource) {
		for i := range resource {
			if identity.KindOfAttribute(resource[i].Key) != identity.NoKind && unusable(&resource[i]) {
				b.refusedIDs++
			}
		}
		text, err := json.Marshal(resource.Map())
		if err != nil {
			return "" // text always marshals
		}
		b.latest, b.latestText = resource, string(text)
	}
	return b.latestText
}
