package identityprocessor

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// enterResource reads what the records of a resource have in common.
func (r *batchReader) enterResource(resource pcommon.Resource) {
	r.resource, r.service, r.present, r.bad, r.explicit, r.ignored, r.bare = resource, "", 0, 0, false, false, -1
	r.inherits = nil
	if !r.plainResource(resource.Attributes()) {
		r.anyResource(resource.Attributes())
	}
	r.explicit = r.inherits.First(identity.Allocation) != "" && r.present&(1<<identity.Allocation) != 0
}

// plainResource reads a resource where it lies; false says that it is not an ordinary one.
func (r *batchReader) plainResource(attrs pcommon.Map) bool {
	r.reserve(2 * identity.MaxKeysPerRecord)
	start := len(r.keys)
	out := identity.Keys(r.keys[start:start:cap(r.keys)])
	var kinds uint32
	others := false
	for name, v := range attrs.All() {
		role := r.p.names.role(name)
		if role.plain {
			continue
		}
		switch {
		case role.stamps == markStamped, role.baggage:
			return false
		case role.service && r.service == "":
			r.service = otlp.Text(v.AsString())
		case role.kind != identity.NoKind:
			id := v.AsString()
			if kinds&(1<<role.kind) != 0 || id != "" && id[0] == '[' {
				return false
			}
			kinds |= 1 << role.kind
			if others = others || !role.canonical; role.canonical {
				out = r.inherit(out, role.kind, id)
			}
		}
		r.present |= role.stamps
	}
	if others { // canonical names come first, here as everywhere
		for name, v := range attrs.All() {
			if role := r.p.names.role(name); role.kind != identity.NoKind && !role.canonical {
				out = r.inherit(out, role.kind, v.AsString())
			}
		}
	}
	if len(out) > 0 {
		r.keys = r.keys[:start+len(out)]
		r.inherits = out[:len(out):len(out)]
	}
	return true
}

func (r *batchReader) inherit(out identity.Keys, kind identity.Kind, id string) identity.Keys {
	switch id = otlp.Text(id); {
	case identity.ValidID(id):
		return append(out, identity.Key{Kind: kind, ID: id})
	case id != "":
		r.bad++
	}
	return out
}

// anyResource reads a resource as everywhere else.
func (r *batchReader) anyResource(all pcommon.Map) {
	r.service, r.present, r.bad = "", 0, 0
	var attrs record.Attrs
	stamped := ""
	for name, v := range all.All() {
		role := r.p.names.role(name)
		r.present |= role.stamps
		switch {
		case role.stamps == markStamped:
			stamped = v.AsString()
		case name == semconv.ServiceName && r.service == "":
			r.service = otlp.Text(v.AsString())
		case role.kind != identity.NoKind || role.baggage:
			attrs = append(attrs, record.Attr{Key: name, Value: otlp.Text(v.AsString())})
		}
	}
	attrs = slices.DeleteFunc(attrs, func(a record.Attr) bool { return otlp.Listed(stamped, a.Key) }).Sort()
	if len(attrs) > 0 {
		r.inherits = r.p.profile.Keys(&record.Record{Service: r.service, Resource: attrs})
	}
	for _, a := range attrs {
		if a.Value != "" && !identity.ValidID(a.Value) && r.p.names.role(a.Key).kind != identity.NoKind {
			r.bad++
		}
	}
}
