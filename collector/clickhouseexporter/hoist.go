package clickhouseexporter

import (
	"encoding/json"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// hoist leaves out the attributes that the row says as its identifiers, and gives their names,
// joined by commas: an identifier is stored once. via is "" for what the emitter said.
//
// An attribute that should be an identifier and cannot be one (too long, with control characters, with spaces around
// it) stays and is counted: nothing is found by it. An empty one says that there is none.
func (b *batch) hoist(attrs record.Attrs, ids *identifiers, via string) (pairs, string) {
	var room [16]int
	hoisted := room[:0]
	for i := range attrs {
		a := &attrs[i]
		if a.Key == viaAttribute {
			if via != "" && a.Value == via {
				hoisted = append(hoisted, i)
			}
			continue
		}
		kind := identity.KindOfAttribute(a.Key)
		if kind == identity.NoKind {
			continue
		}
		if ids.say(kind, a.Value) {
			hoisted = append(hoisted, i)
		} else if unusable(a) {
			b.refusedIDs++
		}
	}
	if len(hoisted) == 0 {
		return pairs(attrs), ""
	}
	rest := make(pairs, 0, len(attrs)-len(hoisted))
	names := make([]string, 0, len(hoisted))
	from := 0
	for _, at := range hoisted {
		names = append(names, attrs[at].Key)
		rest = append(rest, attrs[from:at]...)
		from = at + 1
	}
	return append(rest, attrs[from:]...), strings.Join(names, ",")
}

func unusable(a *record.Attr) bool { return a.Value != "" && !identity.ValidID(a.Value) }

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
