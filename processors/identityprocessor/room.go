package identityprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/faultline-io/faultline/internal/semconv"
)

// room is where a record's new attributes go.
type room struct {
	attrs pcommon.Map
	slab  *slab // nil: one by one
	pairs *[]pair
}

// room makes room for n attributes that are not there.
func (t *tally) room(attrs pcommon.Map, n int) room {
	if !t.slabs {
		attrs.EnsureCapacity(attrs.Len() + n)
		return room{attrs: attrs}
	}
	to := room{attrs: attrs, slab: &t.slab, pairs: t.slab.grow(attrs, n)}
	t.slab.left--
	return to
}

// put adds an attribute that is not there.
func (to *room) put(name, value string) {
	if to.slab == nil {
		to.attrs.PutStr(name, value)
		return
	}
	to.slab.put(to.pairs, name, value)
}

// list says what was stamped, after what was stamped before.
func (to *room) list(names string, before bool) {
	if !before {
		to.put(semconv.IdentityStamped, names)
		return
	}
	if was, ok := to.attrs.Get(semconv.IdentityStamped); ok {
		if was.AsString() != "" {
			names = was.AsString() + "," + names
		}
		was.SetStr(names)
		return
	}
	to.attrs.PutStr(semconv.IdentityStamped, names) // it stands on the resource
}
