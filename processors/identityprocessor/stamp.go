package identityprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// stamped are the identifiers that a record gets under their canonical names, in this order. A trace has a field of its own.
var stamped = func() (kinds []identity.Kind) {
	for kind := range identity.Kinds() {
		if kind.Storage() != identity.InField {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}()

// stamp resolves one record and adds what it lacks to its attributes. An attribute that is there, on
// the record or on its resource, stays as it is. What is added is listed, so that a reader can tell it
// from what the emitter said; a record that was stamped before keeps its list.
func (p *identityProcessor) stamp(attrs pcommon.Map, c *decoded, t *batchStats) {
	r := p.answer(c)
	t.resolved(r, c.service)

	var ids [identity.MaxKinds]string // by their kind
	var adds uint32                   // kinds
	n := 0
	lacks := (c.kinds() | kindsOf(r)) &^ c.present
	for _, kind := range stamped {
		if lacks&(1<<kind) == 0 {
			continue
		}
		id := resolvedID(r, kind)
		if id == "" {
			id = c.keys.First(kind)
		}
		if id != "" {
			ids[kind] = id
			adds |= 1 << kind
			n++
		}
	}
	via := r.Via != identity.Unresolved && c.present&markVia == 0
	conflict := len(r.Conflicts) > 0 && c.present&markConflict == 0
	if !via && !conflict && adds == 0 {
		return
	}
	attrs.EnsureCapacity(attrs.Len() + n + count(adds != 0) + count(via) + count(conflict)) // grown once, to what is needed
	if adds != 0 {
		for _, kind := range stamped {
			if adds&(1<<kind) != 0 {
				attrs.PutStr(kind.Attribute(), ids[kind])
			}
		}
		putStamped(attrs, t.list(adds))
	}
	if via {
		attrs.PutStr(semconv.IdentityVia, string(r.Via))
	}
	if conflict {
		attrs.PutStr(semconv.IdentityConflict, conflictText(r.Conflicts))
	}
}

// putStamped lists what was stamped, after what was stamped before.
func putStamped(attrs pcommon.Map, names string) {
	if before, ok := attrs.Get(semconv.IdentityStamped); ok && before.AsString() != "" {
		names = before.AsString() + "," + names
	}
	attrs.PutStr(semconv.IdentityStamped, names)
}

// answer is whose the record was: what was answered before, where that still holds, else worked out.
func (p *identityProcessor) answer(c *decoded) *identity.Resolution {
	if c.answer != nil && p.index.Holds(c.answer) {
		if r := c.answer.At(c.at); r != nil {
			return r
		}
	}
	r := p.index.ResolveRemember(c.print, c.keys, c.found, c.at, c.observed)
	return &r
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// list names the kinds that were added; the same few combinations come again and again.
func (t *batchStats) list(adds uint32) string {
	if adds == t.lastAdds {
		return t.lastList
	}
	var names []string
	for _, kind := range stamped {
		if adds&(1<<kind) != 0 {
			names = append(names, kind.Attribute())
		}
	}
	t.lastAdds, t.lastList = adds, strings.Join(names, ",")
	return t.lastList
}

// kinds is a bit for each kind of identifier that the record carries.
func (c *decoded) kinds() (kinds uint32) {
	for i := range c.keys {
		kinds |= 1 << c.keys[i].Kind
	}
	return kinds
}

// kindsOf is a bit for each kind of identifier that was found for it.
func kindsOf(r *identity.Resolution) (kinds uint32) {
	for _, kind := range [...]identity.Kind{identity.Allocation, identity.Workflow, identity.Node, identity.NodeInstance} {
		if resolvedID(r, kind) != "" {
			kinds |= 1 << kind
		}
	}
	return kinds
}

func resolvedID(r *identity.Resolution, kind identity.Kind) string {
	switch kind {
	case identity.Allocation:
		return r.Allocation
	case identity.Workflow:
		return r.Workflow
	case identity.Node:
		return r.Node
	case identity.NodeInstance:
		return r.NodeInstance
	}
	return ""
}

func has(m pcommon.Map, name string) bool {
	_, ok := m.Get(name)
	return ok
}

// conflictText says who won against whom: "workflow w-1 is a-1, trace 4bf9 is a-2".
func conflictText(conflicts []identity.Conflict) string {
	var b strings.Builder
	for i, c := range conflicts {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.Winner.Kind.String() + " " + c.Winner.ID + " is " + c.Allocation + ", " +
			c.Loser.Kind.String() + " " + c.Loser.ID + " is " + c.Disagreeing)
	}
	return b.String()
}
