package identityprocessor

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// role is what an attribute's name means to the processor.
type role struct {
	kind      identity.Kind // of identifier that the profile reads from it
	canonical bool          // under its own name
	stamps    uint32        // a bit for a name that stamping may add: 1<<kind, or one of the marks
	event     bool          // event.name
	baggage   bool
	service   bool // service.name
	value     bool // the profile's patterns read its value
	plain     bool // none of these
}

// Bits beside those of the kinds.
const (
	markVia uint32 = 1 << (31 - iota)
	markConflict
	markStamped
)

// names remembers the roles of attribute names: sources use few, in millions of records. Reading takes
// no lock: whoever adds a name replaces the whole table. It does not grow beyond its bound; other names are
// worked out each time.
type names struct {
	profile *profile.Profile
	mu      sync.Mutex // of whoever adds
	known   atomic.Pointer[map[string]*role]
}

const (
	maxNames     = 2048
	maxNameBytes = 256
)

func newNames(p *profile.Profile) *names {
	n := &names{profile: p}
	n.known.Store(&map[string]*role{})
	return n
}

// role gives the role of a name.
func (n *names) role(name string) *role {
	if r := (*n.known.Load())[name]; r != nil {
		return r
	}
	return n.learn(name)
}

func (n *names) learn(name string) *role {
	r := n.make(name)
	if len(name) > maxNameBytes {
		return r
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	known := *n.known.Load()
	if len(known) >= maxNames {
		return r
	}
	known = maps.Clone(known)
	known[strings.Clone(name)] = r
	n.known.Store(&known)
	return r
}

func (n *names) make(name string) *role {
	r := &role{
		kind: n.profile.Attribute(name), event: name == semconv.EventNameKey,
		baggage: strings.EqualFold(name, semconv.HeaderBaggage) || strings.EqualFold(name, "http.request.header.baggage"),
	}
	r.canonical = r.kind != identity.NoKind && r.kind.Attribute() == name
	r.value = n.profile.ReadsValue(name)
	r.service = name == semconv.ServiceName
	switch name {
	case semconv.IdentityVia:
		r.stamps = markVia
	case semconv.IdentityConflict:
		r.stamps = markConflict
	case semconv.IdentityStamped:
		r.stamps = markStamped
	default:
		if k := identity.KindOfAttribute(name); k != identity.NoKind {
			r.stamps = 1 << k
		}
	}
	r.plain = r.stamps == 0 && r.kind == identity.NoKind && !r.event && !r.baggage && !r.value && !r.service
	return r
}
