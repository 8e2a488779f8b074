package identityprocessor

import (
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// role is what an attribute's name means to the processor.
type role struct {
	name      string
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
// no lock. The table does not grow beyond its bound; other names are worked out each time.
type names struct {
	profile *profile.Profile
	mu      sync.Mutex // of whoever adds
	used    int
	slots   [nameSlots]atomic.Pointer[role]
}

const (
	nameSlots    = 4096 // a power of two
	maxNames     = nameSlots / 2
	maxNameBytes = 256
)

// role gives the role of a name.
func (n *names) role(name string) *role {
	h := slotOf(name)
	for ; ; h = (h + 1) % nameSlots {
		r := n.slots[h].Load()
		if r == nil {
			return n.learn(name)
		}
		if r.name == name {
			return r
		}
	}
}

func (n *names) learn(name string) *role {
	r := n.make(name)
	if len(name) > maxNameBytes {
		return r
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.used >= maxNames {
		return r
	}
	r.name = strings.Clone(name)
	for h := slotOf(name); ; h = (h + 1) % nameSlots {
		switch known := n.slots[h].Load(); {
		case known == nil:
			n.slots[h].Store(r)
			n.used++
			return r
		case known.name == name:
			return known
		}
	}
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

// slotOf mixes a name's length and both its ends: attribute names differ there.
func slotOf(s string) uint32 {
	h := uint64(len(s)) //nolint:gosec // a length
	if n := len(s); n >= 8 {
		h ^= eight(s) ^ bits.RotateLeft64(eight(s[n-8:]), 23)
	} else {
		for i := range n {
			h = h<<8 ^ uint64(s[i])
		}
	}
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0x9e3779b97f4a7c15
	return uint32(h>>40) % nameSlots
}

// eight reads the first eight bytes; the compiler makes one load of it.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
