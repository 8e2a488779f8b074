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
	x.mu.RLock()
	if x.fresh(keys) {
		defer x.mu.RUnlock()
		return x.resolve(keys, at, observed)
	}
	x.mu.RUnlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.resolve(keys, at, observed)
}

// fresh says whether these keys can be resolved without working anything out anew.
func (x *Index) fresh(keys Keys) bool {
	for i := range keys {
		s := x.subjects[keys[i]]
		switch {
		case s == nil:
		case keys[i].Kind.Immovable():
			if s.region == nil || s.region.stale || len(s.binds) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (x *Index) resolve(keys Keys, at, observed int64) Resolution {
	r := Resolution{Workflow: keys.First(Workflow), Node: keys.First(Node), NodeInstance: keys.First(NodeInstance)}
	place := x.installation(keys, &r, at, observed)

	winner := Key{}
	claim := func(k Key, allocation string, via Via) {
		switch {
		case allocation == "":
		case r.Allocation == "":
			r.Allocation, r.Via, winner = allocation, via, k
		case r.Allocation != allocation:
			r.Conflicts = append(r.Conflicts, Conflict{winner, k, r.Allocation, allocation})
		}
	}
	for i := range keys {
		if keys[i].Kind == Allocation {
			claim(keys[i], keys[i].ID, Explicit)
		}
	}
	for kind := Workflow; kind <= Trace; kind++ {
		k, allocation, agreed := x.ofKind(keys, kind, at, &r)
		if agreed {
			claim(k, allocation, Via(kind.String()))
		}
	}
	if !x.opt.SharedNodes {
		x.machine(keys, &r, place, claim)
	}
	return r
}

// ofKind asks all keys of one kind (an error may quote two requests); where they disagree, none speaks.
func (x *Index) ofKind(keys Keys, kind Kind, at int64, r *Resolution) (key Key, allocation string, agreed bool) {
	agreed = true
	for i := range keys {
		if keys[i].Kind != kind {
			continue
		}
		s := x.subjects[keys[i]]
		if s == nil {
			continue
		}
		a := x.belongs(s, at, maxChain)
		if a != "" && allocation != "" && a != allocation {
			r.Conflicts = append(r.Conflicts, Conflict{key, keys[i], allocation, a})
			agreed = false
		}
		if a != "" && allocation == "" {
			key, allocation = keys[i], a
		}
		if r.Workflow == "" && kind != Workflow {
			r.Workflow = x.workflowOf(s, at)
		}
	}
	return key, allocation, agreed
}

// belongs is the allocation of one immovable subject at a time: by explicit bindings that cover it, the
// one that began last first; else by the closure.
func (x *Index) belongs(s *subject, at int64, chain int) string {
	if len(s.binds) > 0 && chain > 0 {
		var stated []Interval
		for _, b := range s.binds {
			if at < b.from || at >= b.to {
				continue
			}
			allocation := ""
			switch {
			case b.object.Kind == Allocation:
				allocation = b.object.ID
			case b.object.Kind.Immovable():
				if o := x.subjects[b.object]; o != nil {
					allocation = x.belongs(o, at, chain-1)
				}
			}
			if allocation != "" {
				stated = append(stated, Interval{allocation, b.from, b.to})
			}
		}
		if len(stated) > 0 {
			best, _ := latest(tidy(stated), at) // nothing where two began together and disagree
			return best.Object
		}
		for _, b := range s.binds {
			if b.object.Kind == Allocation {
				return "" // bound, but not at this time
			}
		}
	}
	allocation, shared := x.allocationOf(s)
	if shared {
		return ""
	}
	return allocation
}

// workflowOf is the one workflow that a subject belongs to, "" where there is none or more than one.
func (x *Index) workflowOf(s *subject, at int64) string {
	found := ""
	for _, b := range s.binds {
		if b.object.Kind != Workflow || at < b.from || at >= b.to {
			continue
		}
		if found != "" && found != b.object.ID {
			return ""
		}
		found = b.object.ID
	}
	if found != "" {
		return found
	}
	for _, p := range s.peers {
		if p.key.Kind != Workflow {
			continue
		}
		if found != "" && found != p.key.ID {
			return ""
		}
		found = p.key.ID
	}
	return found
}

// installation fills in the record's installation and node, and says at which time the machine's
// intervals are to be asked.
func (x *Index) installation(keys Keys, r *Resolution, at, observed int64) int64 {
	if r.NodeInstance == "" {
		r.NodeInstance = x.boundTo(keys, NodeInstance, at)
	}
	if r.NodeInstance != "" {
		if s := x.subjects[Key{NodeInstance, r.NodeInstance}]; s != nil && r.Node == "" {
			r.Node = only(s.binds, Node, at)
		}
	}
	if r.Node == "" {
		r.Node = x.boundTo(keys, Node, at)
	}
	node := x.subjects[Key{Node, r.Node}]
	if r.Node == "" || node == nil {
		return at
	}
	node.derive()
	if r.NodeInstance == "" {
		if keys.First(Node) == "" {
			return at
		}
		if i, ok := latest(node.lived, at); ok {
			r.NodeInstance = i.Object
		}
		return at
	}
	return x.place(node, r, at, observed)
}

// place is the time at which to ask whose the machine was: the stamped time, unless the record's own
// installation did not exist then. Before its beginning the clock is wrong and the observed time counts;
// after its end nothing on the machine is this installation's any more.
func (x *Index) place(node *subject, r *Resolution, at, observed int64) int64 {
	first, last, known := Forever, Always, false
	for _, i := range node.lived {
		if i.Object == r.NodeInstance {
			first, last, known = min(first, i.From), max(last, i.To), true
		}
	}
	switch {
	case !known || at >= first && at < last:
		return at
	case at < first && first-at <= x.opt.Tolerance:
		return first
	case at < first:
		r.BeforeInstance = true
		if observed >= first && observed < last {
			return observed
		}
		return Always
	case at-last <= x.opt.Tolerance:
		return last - 1
	case observed >= first && observed < last:
		return observed
	}
	return Always
}

// machine resolves by installation and time, then by node and time.
func (x *Index) machine(keys Keys, r *Resolution, place int64, claim func(Key, string, Via)) {
	node := x.subjects[Key{Node, r.Node}]
	if place == Always || node == nil {
		return
	}
	node.derive()
	held, ok := latest(node.assigned, place)
	if !ok {
		return
	}
	switch {
	case keys.First(NodeInstance) != "" || keys.First(Boot) != "":
		claim(Key{NodeInstance, r.NodeInstance}, held.Object, Via(NodeInstance.String()))
	case keys.First(Node) != "":
		claim(Key{Node, r.Node}, held.Object, Via(Node.String()))
	}
}

// boundTo follows the record's boot, claim and task to an installation or a machine.
func (x *Index) boundTo(keys Keys, kind Kind, at int64) string {
	for _, via := range [...]Kind{Boot, Claim, Task} {
		for i := range keys {
			if keys[i].Kind != via {
				continue
			}
			if s := x.subjects[keys[i]]; s != nil {
				if id := only(s.binds, kind, at); id != "" {
					return id
				}
			}
		}
	}
	return ""
}

// only is the one object of a kind that covers the time, "" where there is none or more than one.
func only(binds []bind, kind Kind, at int64) string {
	found := ""
	for _, b := range binds {
		if b.object.Kind != kind || at < b.from || at >= b.to {
			continue
		}
		if found != "" && found != b.object.ID {
			return ""
		}
		found = b.object.ID
	}
	return found
}

// derive works out the intervals of a node from its moves and explicit bindings.
func (s *subject) derive() {
	if s.derived {
		return
	}
	s.derived = true
	s.assigned, s.lived = assignments(s.moves), installations(s.installs)
	for _, b := range s.binds {
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
