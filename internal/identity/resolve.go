package identity

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
	// BeforeInstance marks a clock fact: the stamped time lies before the record's own installation
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
	g := grounds{from: Always, to: Forever}
	part := x.mu.RLock()
	v := view{x: x, grounds: &g}
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
	g = grounds{from: Always, to: Forever}
	v = view{x: x, write: true, grounds: &g}
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
	grounds      *grounds // nil where nobody asks

	kinds    uint32     // of the keys
	alias    Kind       // Node or NodeInstance where a resource that is bound to it names the machine
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
		v.rest(keys[i], s)
		out = append(out, s)
	}
	return out
}

// rest notes that the answer rests on a key, known or not.
func (v *view) rest(k Key, s *subject) {
	switch {
	case v.grounds == nil || k.Kind == Allocation:
	case s != nil:
		v.grounds.on(s.slot)
	default:
		v.grounds.on(v.x.memo.slot(k))
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
	v.rest(k, s)
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
	node, place := v.installation(keys, &r, at, observed)

	winner := Key{}
	if v.has(Allocation) {
		for i := range keys {
			if keys[i].Kind == Allocation {
				r.claim(&winner, keys[i], keys[i].ID, Explicit)
			}
		}
	}
	for kind := Workflow; kind <= Trace; kind++ {
		if !v.has(kind) {
			continue
		}
		k, allocation, agreed := v.ofKind(keys, kind, at, &r)
		if agreed {
			r.claim(&winner, k, allocation, Via(kind.String()))
		}
	}
	if !v.x.opt.SharedNodes {
		v.machine(node, place, &r, &winner)
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
			v.grounds.change(at, b.from)
			v.grounds.change(at, b.to)
			stated = stated || at >= b.from && at < b.to
		}
	}
	if stated {
		return v.only(s.binds.list, Workflow, at)
	}
	return s.flow
}

// installation fills in the record's installation and node, and says at which time the machine's
// intervals are to be asked.
func (v *view) installation(keys Keys, r *Resolution, at, observed int64) (node *subject, place int64) {
	if r.NodeInstance == "" {
		r.NodeInstance = v.boundTo(keys, NodeInstance, at)
	}
	if r.NodeInstance != "" && r.Node == "" {
		if s := v.of(keys, Key{NodeInstance, r.NodeInstance}); s != nil {
			r.Node = v.only(s.binds.list, Node, at)
		}
	}
	if r.Node == "" {
		r.Node = v.boundTo(keys, Node, at)
	}
	if r.Node == "" {
		return nil, at
	}
	node = v.of(keys, Key{Node, r.Node})
	if node == nil || !v.derive(node) {
		return nil, at
	}
	if r.NodeInstance == "" {
		if v.has(Node) || v.alias == Node {
			if i, ok := v.latest(node.lived, at); ok {
				r.NodeInstance = i.Object
			}
		}
		return node, at
	}
	return node, v.place(node, r, at, observed)
}

// place is the time at which to ask whose the machine was: the stamped time, unless the record's own
// installation did not exist then. Before its beginning the clock is wrong and the observed time counts;
// after its end nothing on the machine is this installation's any more.
func (v *view) place(node *subject, r *Resolution, at, observed int64) int64 {
	first, last, known := Forever, Always, false
	for _, i := range node.lived {
		if i.Object == r.NodeInstance {
			first, last, known = min(first, i.From), max(last, i.To), true
		}
	}
	switch {
	case !known:
		return at
	case at >= first && at < last:
		v.grounds.change(at, first)
		v.grounds.change(at, last)
		return at
	}
	v.grounds.spoil() // what follows asks when it was seen, too
	switch {
	case at < first && first-at <= v.x.opt.Tolerance:
		return first
	case at < first:
		r.BeforeInstance = true
		if observed >= first && observed < last {
			return observed
		}
		return Always
	case at-last <= v.x.opt.Tolerance:
		return last - 1
	case observed >= first && observed < last:
		return observed
	}
	return Always
}

// machine resolves by installation and time, then by node and time.
func (v *view) machine(node *subject, place int64, r *Resolution, winner *Key) {
	if place == Always || node == nil {
		return
	}
	held, ok := v.latest(node.assigned, place)
	if !ok {
		return
	}
	switch {
	case v.has(NodeInstance) || v.has(Boot) || v.alias == NodeInstance:
		r.claim(winner, Key{NodeInstance, r.NodeInstance}, held.Object, Via(NodeInstance.String()))
	case v.has(Node) || v.alias == Node:
		r.claim(winner, Key{Node, r.Node}, held.Object, Via(Node.String()))
	}
}

// latest is the interval that covers a time and began last.
func (v *view) latest(list []Interval, at int64) (Interval, bool) {
	if v.grounds != nil {
		for i := range list {
			v.grounds.change(at, list[i].From)
			v.grounds.change(at, list[i].To)
		}
	}
	return latest(list, at)
}

// boundTo follows the record's boot, claim, task and resource to an installation or a machine. A resource
// that is bound to a machine (Ironic's uuid of it) is a name of the machine: what says nothing else is the
// machine's.
func (v *view) boundTo(keys Keys, kind Kind, at int64) string {
	for _, via := range [...]Kind{Boot, Claim, Task, Resource} {
		if !v.has(via) {
			continue
		}
		for i := range keys {
			if s := v.subjects[i]; keys[i].Kind == via && s != nil {
				if id := v.only(s.binds.list, kind, at); id != "" {
					if via == Resource {
						v.alias = kind
					}
					return id
				}
			}
		}
	}
	return ""
}

// only is the one object of a kind that covers the time, "" where there is none or more than one.
func (v *view) only(binds []bind, kind Kind, at int64) string {
	found := ""
	for _, b := range binds {
		if b.object.Kind != kind {
			continue
		}
		v.grounds.change(at, b.from)
		v.grounds.change(at, b.to)
		if at < b.from || at >= b.to {
			continue
		}
		if found != "" && found != b.object.ID {
			return ""
		}
		found = b.object.ID
	}
	return found
}

// derive says whether the intervals of a node are worked out, or can be now.
func (v *view) derive(node *subject) bool {
	if !node.derived {
		if !v.write {
			v.stale = true
			return false
		}
		node.derive()
	}
	return true
}

// derive works out the intervals of a node from its moves and explicit bindings.
func (s *subject) derive() {
	if s.derived {
		return
	}
	s.derived = true
	s.node()
	s.assigned, s.lived = assignments(s.moves.list), installations(s.installs.list)
	for _, b := range s.binds.list {
		switch b.object.Kind {
		case Allocation:
			s.assigned = append(s.assigned, Interval{b.object.ID, b.from, b.to})
		case NodeInstance:
			s.lived = append(s.lived, Interval{b.object.ID, b.from, b.to})
		}
	}
	s.assigned, s.lived = tidy(s.assigned), tidy(s.lived)
}

// Assignments lists when a node was whose, in order of beginning.
func (x *Index) Assignments(node string) []Interval {
	return x.intervals(node, func(s *subject) []Interval { return s.assigned })
}

// Installations lists when which node instance lived on a node, in order of beginning.
func (x *Index) Installations(node string) []Interval {
	return x.intervals(node, func(s *subject) []Interval { return s.lived })
}

func (x *Index) intervals(node string, of func(*subject) []Interval) []Interval {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.subjects[Key{Node, node}]
	if s == nil {
		return nil
	}
	s.derive()
	return append([]Interval(nil), of(s)...)
}

// Overlaps lists every stretch in which a node was assigned to two allocations at once.
func (x *Index) Overlaps() []Overlap {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []Overlap
	for k, s := range x.subjects {
		if k.Kind == Node {
			s.derive()
			out = append(out, overlaps(k, s.assigned)...)
		}
	}
	sortOverlaps(out)
	return out
}

// OverlapsOf lists the stretches in which one node was assigned to two allocations at once.
func (x *Index) OverlapsOf(node string) []Overlap {
	return overlaps(Key{Node, node}, x.Assignments(node))
}
