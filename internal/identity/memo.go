package identity

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
)

// Print is a fingerprint of a record's keys: two hashes of 64 bits with seeds of this process, so that
// nobody can make two lists of keys that share one.
type Print struct{ a, b uint64 }

// Answer is a resolution that an index remembers together with all that it rests on. It is immutable.
type Answer struct {
	print    Print
	epoch    uint32
	n        uint8
	slots    [maxDependencies]uint16 // slots of everything that was looked at
	versions uint64                  // sum of their versions then: versions only grow
	from, to int64                   // stamped times for which it holds
	res      Resolution
}

const (
	maxDependencies = 10      // what rests on more is worked out anew each time
	versionSlots    = 1 << 14 // a power of two; what shares a slot goes stale together
	memoWays        = 4       // a power of two
)

// memo remembers answers. Reading takes no lock and touches two places in memory; the hundred records
// that a busy node sends in a second carry the same identifiers. It is bounded: a new answer takes
// the place of another one.
type memo struct {
	one, two maphash.Seed
	versions [versionSlots]atomic.Uint32
	answers  []atomic.Pointer[Answer] // sets of memoWays, a power of two of them
	turn     atomic.Uint32            // which of a set is replaced next
	asked    []atomic.Uint32          // halves of fingerprints that were asked for
}

func newMemo(n int) *memo {
	sets := 1 << bits.Len(uint(max(n-1, 0)/memoWays)) //nolint:gosec // not negative
	return &memo{one: maphash.MakeSeed(), two: maphash.MakeSeed(), answers: make([]atomic.Pointer[Answer], sets*memoWays), asked: make([]atomic.Uint32, sets*memoWays)}
}

// slot is where the version of a key stands.
func (m *memo) slot(k Key) uint16 {
	return uint16((maphash.String(m.one, k.ID) + uint64(k.Kind)*0x9e3779b97f4a7c15) >> 17 & (versionSlots - 1)) //nolint:gosec // masked
}

// touch makes every answer that rests on a slot void. Callers hold the write lock.
func (x *Index) touch(slot uint16) {
	if x.memo != nil {
		x.memo.versions[slot].Add(1)
	}
}

// Print gives the fingerprint of a record's keys, in their order.
func (x *Index) Print(keys Keys) (p Print) {
	for i := range keys {
		kind := uint64(keys[i].Kind) * 0x9e3779b97f4a7c15
		p.a = bits.RotateLeft64(p.a, 23)*0xff51afd7ed558ccd ^ maphash.String(x.memo.one, keys[i].ID) + kind
		p.b = bits.RotateLeft64(p.b, 29)*0xc4ceb9fe1a85ec53 ^ maphash.String(x.memo.two, keys[i].ID) ^ kind
	}
	return p
}

// set is where the answers for a fingerprint may stand.
func (m *memo) set(p Print) []atomic.Pointer[Answer] {
	i := (p.a ^ p.a>>31) & uint64(len(m.answers)-1) &^ (memoWays - 1) //nolint:gosec // not negative
	return m.answers[i : i+memoWays]
}

// Recall finds what was answered for these keys before, nil where nothing was. What it finds may have
// gone stale: see Holds. Keys of which an answer holds have been added before.
func (x *Index) Recall(p Print) *Answer {
	set := x.memo.set(p)
	for i := range set {
		if a := set[i].Load(); a != nil && a.print == p {
			return a
		}
	}
	return nil
}

// Holds says whether nothing that an answer rests on has changed since.
func (x *Index) Holds(a *Answer) bool {
	return a.epoch == x.epoch.Load() && a.versions == x.memo.sum(a.slots[:a.n])
}

// At is the answer for a record with that stamped time, nil where the times that it holds for do not
// include it.
func (a *Answer) At(at int64) *Resolution {
	if at < a.from || at >= a.to {
		return nil
	}
	return &a.res
}

func (m *memo) sum(slots []uint16) (sum uint64) {
	for _, s := range slots {
		sum += uint64(m.versions[s&(versionSlots-1)].Load())
	}
	return sum
}

// again says whether the same was asked before: most identifiers come once, and are not worth keeping.
// Of two that share a place each has its turn, by chance: in turn neither would ever be there.
func (m *memo) again(p Print) bool {
	half, place := uint32(p.b>>32), &m.asked[p.b&uint64(len(m.asked)-1)] //nolint:gosec // half of it; not negative
	was := place.Load()
	if was != half && (was == 0 || rand.Uint32()&1 == 0) {
		place.Store(half)
	}
	return was == half
}

// remember keeps an answer. Callers hold a lock, so that what it rests on is what it was.
func (m *memo) remember(p Print, g *dependencies, epoch uint32, r *Resolution) {
	if g.uncacheable || len(r.Conflicts) > 0 || r.BeforeInstance {
		return
	}
	a := &Answer{print: p, epoch: epoch, n: uint8(g.n), slots: g.slots, versions: m.sum(g.slots[:g.n]), from: g.from, to: g.to, res: *r} //nolint:gosec // at most maxDependencies
	set := m.set(p)
	place := int(m.turn.Add(1) % memoWays)
	for i := range set {
		old := set[i].Load()
		if old == nil || old.print == p {
			place = i
			break
		}
		if old.epoch != epoch || old.versions != m.sum(old.slots[:old.n]) {
			place = i
		}
	}
	set[place].Store(a)
}

// dependencies are what a resolution rests on: the slots of all that was looked at, and how long before and
// after its time nothing of it changes.
type dependencies struct {
	n           int
	slots       [maxDependencies]uint16
	from, to    int64
	uncacheable bool // it rests on more than can be noted
}

// on notes a slot.
func (g *dependencies) on(slot uint16) {
	if g == nil {
		return
	}
	for _, s := range g.slots[:g.n] {
		if s == slot {
			return
		}
	}
	if g.n == maxDependencies {
		g.uncacheable = true
		return
	}
	g.slots[g.n] = slot
	g.n++
}

// change notes a moment at which something that was looked at begins or ends.
func (g *dependencies) change(at, moment int64) {
	switch {
	case g == nil:
	case moment <= at:
		g.from = max(g.from, moment)
	default:
		g.to = min(g.to, moment)
	}
}

func (g *dependencies) forbidCaching() {
	if g != nil {
		g.uncacheable = true
	}
}
