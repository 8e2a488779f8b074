package identity

// nodeInstance fills in the record's node instance and node, and says at which time the node's
// intervals are to be asked.
func (v *view) nodeInstance(keys Keys, r *Resolution, at, observed int64) (node *subject, asOf int64) {
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
	return node, v.asOf(node, r, at, observed)
}

// asOf is the time at which to ask whose the node was: the stamped time, unless the record's own
// node instance did not exist then. Before its beginning the clock is wrong and the observed time counts;
// after its end nothing on the node is this node instance's any more.
func (v *view) asOf(node *subject, r *Resolution, at, observed int64) int64 {
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
		v.depends.change(at, first)
		v.depends.change(at, last)
		return at
	}
	v.depends.forbidCaching() // what follows asks when it was seen, too
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

// holder resolves by node instance and time, then by node and time.
func (v *view) holder(node *subject, asOf int64, r *Resolution, winner *Key) {
	if asOf == Always || node == nil {
		return
	}
	held, ok := v.latest(node.assigned, asOf)
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
	if v.depends != nil {
		for i := range list {
			v.depends.change(at, list[i].From)
			v.depends.change(at, list[i].To)
		}
	}
	return latest(list, at)
}

// boundTo follows the record's boot, claim, task and resource to a node instance or a node. A resource
// that is bound to a node (Ironic's uuid of it) is a name of the node: what says nothing else is the
// node's.
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
		v.depends.change(at, b.from)
		v.depends.change(at, b.to)
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
