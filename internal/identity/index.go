package identity

import (
	"strings"
	"sync/atomic"
)

// Options of an Index. The zero value is the default profile's behaviour.
type Options struct {
	// SharedNodes: several allocations live on a node at once, so that node and time resolve nothing.
	SharedNodes bool
	// MaxSubjects bounds the index; 0 means DefaultMaxSubjects. A subject beyond it is refused and
	// counted, what is known stays known; unless Forget is set.
	MaxSubjects int
	// Forget makes room for a new subject by forgetting one that was not used for long, of the source
	// that holds most. A Collector that runs for months does so; a reader whose answers must not depend
	// on the order of arrival does not.
	Forget bool
	// Remember is how many answers are kept, so that keys which come again cost one look-up: see Recall.
	// Up to 200 bytes each; 0 keeps none.
	Remember int
	// Tolerance is how far, in nanoseconds, the clocks of a link's and of a record's source may
	// differ at the edge of a node instance's life.
	Tolerance int64
}

// Bounds of an Index. A record that lists more identifiers than MaxKeysPerRecord is a bulk answer, not
// evidence that they belong together.
const (
	DefaultMaxSubjects = 2_000_000
	MaxKeysPerRecord   = 24
	maxChain           = 16 // links followed from one subject; longer chains are cycles or mistakes
)

// Index holds what is known of who belonged to whom. It is safe for concurrent use; adding is
// idempotent and order-free.
type Index struct {
	opt Options

	mu       wideLock
	subjects map[Key]*subject
	refused  map[error]int
	full     int
	sources  sources
	epoch    atomic.Uint32 // counts up as subjects are made
	made     int           // in this epoch
	trimmed  int           // links
	tangled  atomic.Int64  // look-ups that were given up
	memo     *memo         // nil unless Remember is set
}

// New gives an empty index.
func New(opt Options) *Index {
	if opt.MaxSubjects == 0 {
		opt.MaxSubjects = DefaultMaxSubjects
	}
	x := &Index{opt: opt, subjects: map[Key]*subject{}, refused: map[error]int{}}
	if opt.Remember > 0 {
		x.memo = newMemo(opt.Remember)
	}
	return x
}

// Add takes one link. It returns why a link was refused (see Link.Check); a refused link changes
// nothing but the count.
func (x *Index) Add(f Link) error { return x.AddFrom("", f) }

// AddFrom is Add, with the source (service) on whose account its subjects are remembered.
func (x *Index) AddFrom(source string, f Link) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := f.Check(); err != nil {
		x.refused[err]++
		return err
	}
	if x.opt.Forget {
		x.sources.turn(source)
	}
	x.add(f)
	return nil
}

// AddSeen takes the keys of one record: the immovable ones belong together, and to the record's
// allocation; a node instance belongs to its node, a boot to its node instance.
func (x *Index) AddSeen(keys Keys) { x.AddSeenFrom("", keys, nil) }

// AddSeenFrom is AddSeen, with the source (service) on whose account the keys are remembered. What it
// finds of them is left in found, for ResolveFound; found is as long as keys, or nil. Keys that are
// known to belong together already cost a look-up each and no lock that readers wait for.
func (x *Index) AddSeenFrom(source string, keys Keys, found Subjects) {
	if len(keys) < 2 || len(keys) > MaxKeysPerRecord {
		return
	}
	var own [MaxKeysPerRecord]*subject
	if found == nil {
		found = own[:len(keys)]
	}
	part := x.mu.RLock()
	known := x.known(keys, found)
	part.RUnlock()
	if known {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.opt.Forget {
		x.sources.turn(source)
	}
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			if s, o, ok := seenPair(a, b); ok {
				x.add(Link{Type: Seen, Subject: s, Object: o})
			}
		}
	}
}

// Subjects are what an index found of a record's keys, in their order.
type Subjects []*subject

// known says whether everything that the keys of a record say together is known.
func (x *Index) known(keys Keys, found Subjects) bool {
	for i := range keys {
		if keys[i].Kind != Allocation {
			found[i] = x.subjects[keys[i]]
		}
	}
	for i := range keys {
		for j := i + 1; j < len(keys); j++ {
			s, o := j, i
			if keys[i].Kind > keys[j].Kind {
				s, o = i, j
			}
			if !seenKinds(keys[o].Kind, keys[s].Kind) || keys[s] == keys[o] {
				continue
			}
			if keys[s].Kind == Node {
				s, o = o, s
			}
			if !found[s].knows(keys[o], found[o]) {
				return false
			}
		}
	}
	return true
}

// SeenLinks are the links that AddSeen would take, for whoever shares them with other replicas.
func SeenLinks(keys Keys) []Link {
	if len(keys) < 2 || len(keys) > MaxKeysPerRecord {
		return nil
	}
	var out []Link
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			if s, o, ok := seenPair(a, b); ok {
				out = append(out, Link{Type: Seen, Subject: s, Object: o})
			}
		}
	}
	return out
}

// seenPair says which of two keys of one record is the subject of which. node → allocation and
// node → node_instance move, so being seen together says nothing of them.
func seenPair(a, b Key) (subject, object Key, ok bool) {
	if a.Kind > b.Kind {
		a, b = b, a
	}
	if !seenKinds(a.Kind, b.Kind) {
		return Key{}, Key{}, false
	}
	if b.Kind == Node {
		return a, b, true
	}
	return b, a, a != b
}

// seenKinds says whether keys of two kinds on one record say anything; a is not greater than b.
func seenKinds(a, b Kind) bool {
	switch {
	case b.Immovable():
		return a == Allocation || a.Immovable()
	case a == NodeInstance:
		return b == Node || b == Boot
	}
	return false
}

func (x *Index) add(f Link) {
	s := x.subject(f.Subject)
	if s == nil {
		return
	}
	switch f.Type {
	case Seen:
		x.addSeen(s, f.Object)
	case Bind:
		if !s.binds.add(bind{f.Object, f.From, f.To}) {
			return
		}
		x.trim(s)
		s.derived = false
		x.touch(s.slot)
		if f.Object.Kind == Allocation {
			x.stale(s)
			for _, p := range s.peers.list {
				x.stale(p) // what an ambiguous subject connects now was not worked out together with it
			}
		}
		if f.Object.Kind.Immovable() && f.Subject.Kind.Immovable() {
			x.link(s, f.Object)
		}
	case Opened, Closed, Lost:
		list := &s.node().moves
		if f.Object.Kind == NodeInstance {
			list = &s.instances
			if o := x.subject(f.Object); o != nil {
				x.addSeen(o, f.Subject) // the node instance is this node's, whenever
			}
		}
		if list.add(move{f.Type, f.Object.ID, f.From}) {
			x.trim(s)
			s.derived = false
			x.touch(s.slot)
		}
	}
}

func (x *Index) addSeen(s *subject, object Key) {
	switch {
	case object.Kind == Allocation:
		x.allocate(s, object.ID)
	case object.Kind.Immovable():
		x.link(s, object)
	default: // node instance → node, boot → node instance
		if !s.binds.has(bind{object, Always, Forever}) {
			object.ID = strings.Clone(object.ID)
			s.binds.add(bind{object, Always, Forever})
			x.touch(s.slot)
		}
	}
}

// link makes two immovable subjects neighbours.
func (x *Index) link(s *subject, object Key) {
	o := x.subject(object)
	if o == nil || o.gone || s.gone || !s.peers.add(o) {
		return
	}
	o.peers.add(s)
	x.meet(s, o)
	x.meet(o, s)
	x.join(s, o)
}

func (x *Index) subject(k Key) *subject {
	if s := x.subjects[k]; s != nil {
		s.use(x.epoch.Load())
		return s
	}
	if len(x.subjects) >= x.opt.MaxSubjects && (!x.opt.Forget || !x.forget()) {
		x.full++
		return nil
	}
	k.ID = strings.Clone(k.ID) // it may be a part of a long line
	s := &subject{key: k}
	s.use(x.epoch.Load())
	x.subjects[k] = s
	if x.memo != nil {
		s.slot = x.memo.slot(k)
		x.touch(s.slot)
	}
	if x.opt.Forget {
		x.sources.remember(s)
		if x.made++; x.made > x.opt.MaxSubjects/16 {
			x.made = 0
			x.epoch.Add(1)
		}
	}
	return s
}

// Stats counts what the index holds and what it would not take.
type Stats struct {
	Subjects int
	Refused  map[string]int // links, by reason
	Full     int            // subjects refused because the index was full
	Evicted  int            // subjects forgotten to make room
	Trimmed  int            // links forgotten because their subject had hundreds
	Tangled  int            // look-ups given up because links led to ever more links
}

// Stats of the index now.
func (x *Index) Stats() Stats {
	defer x.mu.RLock().RUnlock()
	refused := make(map[string]int, len(x.refused))
	for err, n := range x.refused {
		refused[err.Error()] = n
	}
	return Stats{Subjects: len(x.subjects), Refused: refused, Full: x.full, Evicted: x.sources.evicted, Trimmed: x.trimmed, Tangled: int(x.tangled.Load())}
}
