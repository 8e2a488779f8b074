package identity

import (
	"slices"
	"sync"
)

// Options of an Index. The zero value is the default profile's behaviour.
type Options struct {
	// SharedNodes: several allocations live on a node at once, so that node and time resolve nothing.
	SharedNodes bool
	// MaxSubjects bounds the index; 0 means DefaultMaxSubjects. A subject beyond it is refused and
	// counted, what is known stays known.
	MaxSubjects int
	// Tolerance is how far, in nanoseconds, the clocks of a binding's and of a record's source may
	// differ at the edge of a node instance's life.
	Tolerance int64
}

// Bounds of an Index. A record that lists more identifiers than MaxKeysPerRecord is a bulk answer, not
// evidence that they belong together.
const (
	DefaultMaxSubjects = 2_000_000
	MaxKeysPerRecord   = 24
	maxChain           = 16 // bindings followed from one subject; longer chains are cycles or mistakes
)

// Index holds what is known of who belonged to whom. It is safe for concurrent use; adding is
// idempotent and order-free.
type Index struct {
	opt Options

	mu       sync.RWMutex
	subjects map[Key]*subject
	refused  map[error]int
	full     int
}

// subject is all that is known of one key. Everything but its derived part only ever grows.
type subject struct {
	key         Key
	allocations []string // allocations seen with it, at most two are kept: two make it shared
	peers       []*subject
	binds       []bind
	moves       []move // of a node, and of node → installation: see installs
	installs    []move

	// Derived, nil when stale.
	region   *region
	label    string // its allocation by closure, valid while region is not stale
	shared   bool
	assigned []Interval // node → allocation
	lived    []Interval // node → node_instance
	derived  bool       // assigned and lived are valid
}

type bind struct {
	object   Key
	from, to int64
}

// New gives an empty index.
func New(opt Options) *Index {
	if opt.MaxSubjects == 0 {
		opt.MaxSubjects = DefaultMaxSubjects
	}
	return &Index{opt: opt, subjects: map[Key]*subject{}, refused: map[error]int{}}
}

// Add takes one fact. It returns why a fact was refused (see Fact.Check); a refused fact changes
// nothing but the count.
func (x *Index) Add(f Fact) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := f.Check(); err != nil {
		x.refused[err]++
		return err
	}
	x.add(f)
	return nil
}

// AddSeen takes the keys of one record: the immovable ones belong together, and to the record's
// allocation; an installation belongs to its node, a boot to its installation.
func (x *Index) AddSeen(keys Keys) {
	if len(keys) < 2 || len(keys) > MaxKeysPerRecord {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			if s, o, ok := seenPair(a, b); ok {
				x.add(Fact{Type: Seen, Subject: s, Object: o})
			}
		}
	}
}

// SeenFacts are the facts that AddSeen would take, for whoever shares them with other replicas.
func SeenFacts(keys Keys) []Fact {
	if len(keys) < 2 || len(keys) > MaxKeysPerRecord {
		return nil
	}
	var out []Fact
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			if s, o, ok := seenPair(a, b); ok {
				out = append(out, Fact{Type: Seen, Subject: s, Object: o})
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
	switch {
	case a.Kind.Immovable() && b.Kind.Immovable(), a.Kind == Allocation && b.Kind.Immovable():
		return b, a, a != b
	case a.Kind == NodeInstance && b.Kind == Node:
		return a, b, true
	case a.Kind == NodeInstance && b.Kind == Boot:
		return b, a, true
	}
	return Key{}, Key{}, false
}

func (x *Index) add(f Fact) {
	s := x.subject(f.Subject)
	if s == nil {
		return
	}
	switch f.Type {
	case Seen:
		x.addSeen(s, f.Object)
	case Bind:
		b := bind{f.Object, f.From, f.To}
		if slices.Contains(s.binds, b) {
			return
		}
		s.binds = append(s.binds, b)
		s.derived = false
		s.stale()
		if f.Object.Kind.Immovable() && f.Subject.Kind.Immovable() {
			x.link(s, f.Object)
		}
	case Opened, Closed, Lost:
		m := move{f.Type, f.Object.ID, f.From}
		list := &s.moves
		if f.Object.Kind == NodeInstance {
			list = &s.installs
			if o := x.subject(f.Object); o != nil {
				x.addSeen(o, f.Subject) // the installation is this node's, whenever
			}
		}
		if !slices.Contains(*list, m) {
			*list = append(*list, m)
			s.derived = false
		}
	}
}

func (x *Index) addSeen(s *subject, object Key) {
	switch {
	case object.Kind == Allocation:
		if len(s.allocations) < 2 && !slices.Contains(s.allocations, object.ID) {
			s.allocations = append(s.allocations, object.ID)
			s.stale()
		}
	case object.Kind.Immovable():
		x.link(s, object)
	default: // installation → node, boot → installation
		b := bind{object, Always, Forever}
		if !slices.Contains(s.binds, b) {
			s.binds = append(s.binds, b)
		}
	}
}

// link makes two immovable subjects neighbours.
func (x *Index) link(s *subject, object Key) {
	o := x.subject(object)
	if o == nil || slices.Contains(s.peers, o) {
		return
	}
	s.peers = append(s.peers, o)
	o.peers = append(o.peers, s)
	s.stale()
	o.stale()
}

func (s *subject) stale() {
	if s.region != nil {
		s.region.stale = true
	}
}

func (x *Index) subject(k Key) *subject {
	if s := x.subjects[k]; s != nil {
		return s
	}
	if len(x.subjects) >= x.opt.MaxSubjects {
		x.full++
		return nil
	}
	s := &subject{key: k}
	x.subjects[k] = s
	return s
}

// Stats counts what the index holds and what it would not take.
type Stats struct {
	Subjects int
	Refused  map[string]int // facts, by reason
	Full     int            // subjects refused because the index was full
}

// Stats of the index now.
func (x *Index) Stats() Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	refused := make(map[string]int, len(x.refused))
	for err, n := range x.refused {
		refused[err.Error()] = n
	}
	return Stats{Subjects: len(x.subjects), Refused: refused, Full: x.full}
}
