package clickhouseexporter

import (
	"encoding/json"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// lift leaves out the attributes that the row holds in a column of their own, and gives their names,
// joined by commas: an identifier is stored once. via is "" for what the emitter said.
func lift(attrs record.Attrs, ids *[len(idKinds)]string, via string) (pairs, string) {
	lifted := 0
	for i := range attrs {
		if inColumn(&attrs[i], ids, via) {
			lifted++
		}
	}
	if lifted == 0 {
		return pairs(attrs), ""
	}
	rest := make(pairs, 0, len(attrs)-lifted)
	names := make([]string, 0, 8)
	for i := range attrs {
		if inColumn(&attrs[i], ids, via) {
			names = append(names, attrs[i].Key)
		} else {
			rest = append(rest, attrs[i])
		}
	}
	return rest, strings.Join(names, ",")
}

func inColumn(a *record.Attr, ids *[len(idKinds)]string, via string) bool {
	if a.Key == viaAttribute {
		return via != "" && a.Value == via
	}
	if kind := identity.KindOfAttribute(a.Key); kind != identity.NoKind {
		at := columnOf[kind]
		return at >= 0 && ids[at] == a.Value
	}
	return false
}

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

// keysWithout gives the keys of a record ("kind:id") that the row holds in no column: second ones of a kind.
func keysWithout(r *record.Record, ids *[len(idKinds)]string) []string {
	var out []string
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
	if len(b.latest) != len(resource) || &b.latest[0] != &resource[0] {
		text, err := json.Marshal(resource.Map())
		if err != nil {
			return "" // text always marshals
		}
		b.latest, b.latestText = resource, string(text)
	}
	return b.latestText
}
