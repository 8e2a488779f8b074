package identity

import "math/bits"

// Conflict is a disagreement between two keys of one record: Winner was stronger.
type Conflict struct {
	Winner, Loser           Key
	Allocation, Disagreeing string // what the winner and the loser lead to
}

// Resolution is whose a record was. Empty strings are unknown.
type Resolution struct {
	Allocation   string
	Workflow     string
	Node         string
	NodeInstance string
	Via          Via
	Conflicts    []Conflict
	// BeforeInstance marks a clock that is proven wrong: the stamped time lies before the record's own node instance
	// existed, so that the observed time placed it.
	BeforeInstance bool
}

// Resolve says whose a record with these keys was at its own time, in Unix nanoseconds; observed is
// when a collector first saw it and serves only where the stamped time cannot be true.
func (x *Index) Resolve(keys Keys, at, observed int64) Resolution {
	return x.ResolveFound(keys, nil, at, observed)
}

// ResolveFound is Resolve with what AddSeenFrom found; found may be nil. It allocates nothing unless
// keys disagree, and takes the lock that readers wait for only where something it needs has to be
// worked out anew.
func (x *Index) ResolveFound(keys Keys, found Subjects, at, observed int64) Resolution {
	var own [8]*subject // records rarely carry more
	part := x.mu.RLock()
	v := view{x: x}
	v.subjects = v.look(own[:0], keys, found)
	r := v.resolve(keys, at, observed)
	part.RUnlock()
	if !v.stale {
		return r
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	v = view{x: x, write: true}
	v.subjects = v.look(own[:0], keys, found)
	return v.resolve(keys, at, observed)
}

// ResolveRemember is ResolveFound, and keeps the answer for Recall under the keys' fingerprint when it is
// asked for the second time.
func (x *Index) ResolveRemember(p Print, keys Keys, found Subjects, at, observed int64) Resolution {
	if !x.memo.again(p) {
		return x.ResolveFound(keys, found, at, observed)
	}
	var own [8]*subject
	g := dependencies{from: Always, to: Forever}
	part := x.mu.RLock()
	v := view{x: x, depends: &g}
	v.subjects = v.look(own[:0], keys, found)
	r := v.resolve(keys, at, observed)
	if !v.stale {
		x.memo.remember(p, &g, x.epoch.Load(), &r)
		part.RUnlock()
		return r
	}
	part.RUnlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	g = dependencies{from: Always, to: Forever}
	v = view{x: x, write: true, depends: &g}
	v.subjects = v.look(own[:0], keys, found)
	r = v.resolve(keys, at, observed)
	x.memo.remember(p, &g, x.epoch.Load(), &r)
	return r
}

// view is one resolution. Without the write lock it works nothing out; where it would have to it says
// so in stale and its answer is void.
type view struct {
	x            *Index
	write, stale bool
	depends      *dependencies // nil where nobody asks

	kinds    uint32     // of the keys
	alias    Kind       // Node or NodeInstance where a resource that is bound to it names the node
	subjects []*subject // of the keys, nil for unknown ones
	walk     walk
}

// look finds the subjects of the keys, once.
func (v *view) look(out []*subject, keys Keys, found Subjects) []*subject {
	epoch := v.x.epoch.Load()
	for i := range keys {
		var s *subject
		if i < len(found) {
			s = found[i]
		}
		if keys[i].Kind != Allocation && (s == nil || s.gone) {
			s = v.x.subjects[keys[i]]
		}
		if s != nil {
			s.use(epoch)
		}
		v.dependOn(keys[i], s)
		out = append(out, s)
	}
	return out
}

// dependOn notes that the answer rests on a key, known or not.
func (v *view) dependOn(k Key, s *subject) {
	switch {
	case v.depends == nil || k.Kind == Allocation:
	case s != nil:
		v.depends.on(s.slot)
	default:
		v.depends.on(v.x.memo.slot(k))
	}
}

func (v *view) has(k Kind) bool { return v.kinds&(1<<k) != 0 }

// of is the subject of a key that is perhaps one of the record's.
func (v *view) of(keys Keys, k Key) *subject {
	if v.has(k.Kind) {
		for i := range keys {
			if keys[i] == k {
				return v.subjects[i]
			}
		}
	}
	s := v.x.subjects[k]
	if s != nil {
		s.use(v.x.epoch.Load())
	}
	v.dependOn(k, s)
	return s
}

func (v *view) resolve(keys Keys, at, observed int64) Resolution {
	for i := range keys {
		v.kinds |= 1 << keys[i].Kind
	}
	var r Resolution
	if v.has(Workflow) {
		r.Workflow = keys.First(Workflow)
	}
	if v.has(Node) {
		r.Node = keys.First(Node)
	}
	if v.has(NodeInstance) {
		r.NodeInstance = keys.First(NodeInstance)
	}
	node, asOf := v.nodeInstance(keys, &r, at, observed)

	winner := Key{}
	if v.has(Allocation) {
		for i := range keys {
			if keys[i].Kind == Allocation {
				r.claim(&winner, keys[i], keys[i].ID, Explicit)
			}
		}
	}
	for left := v.kinds & immovables; left != 0; left &= left - 1 {
		kind := Kind(bits.TrailingZeros32(left)) // the strongest first
		k, allocation, agreed := v.ofKind(keys, kind, at, &r)
		if agreed {
			r.claim(&winner, k, allocation, Via(kind.String()))
		}
	}
	if !v.x.opt.SharedNodes {
		v.holder(node, asOf, &r, &winner)
	}
	return r
}

// claim takes an allocation for the record's, or for a disagreement with the stronger key's.
func (r *Resolution) claim(winner *Key, k Key, allocation string, via Via) {
	switch {
	case allocation == "":
	case r.Allocation == "":
		r.Allocation, r.Via, *winner = allocation, via, k
	case r.Allocation != allocation:
		r.Conflicts = append(r.Conflicts, Conflict{*winner, k, r.Allocation, allocation})
	}
}

// ofKind asks all keys of one kind (an error may quote two requests); where they disagree, none speaks.
func (v *view) ofKind(keys Keys, kind Kind, at int64, r *Resolution) (key Key, allocation string, agreed bool) {
	agreed = true
	for i := range keys {
		s := v.subjects[i]
		if keys[i].Kind != kind || s == nil {
			continue
		}
		a := v.stated(s, at)
		if a != "" && allocation != "" && a != allocation {
			r.Conflicts = append(r.Conflicts, Conflict{key, keys[i], allocation, a})
			agreed = false
		}
		if a != "" && allocation == "" {
			key, allocation = keys[i], a
		}
		if r.Workflow == "" && kind != Workflow {
			r.Workflow = v.workflow(s, at)
		}
	}
	return key, allocation, agreed
}

// workflow is the one workflow that a subject belongs to, "" where there is none or more than one.
func (v *view) workflow(s *subject, at int64) string {
	stated := false
	for _, b := range s.binds.list {
		if b.object.Kind == Workflow {
			v.depends.change(at, b.from)
			v.depends.change(at, b.to)
			stated = stated || at >= b.from && at < b.to
		}
	}
	if stated {
		return v.only(s.binds.list, Workflow, at)
	}
	return s.flow
}
