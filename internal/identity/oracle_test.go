package identity_test

import (
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
)

// oracle answers from the list of all links, by the telemetry contract's text, working everything out
// anew for each question.
type oracle struct{ links []identity.Link }

func (o *oracle) see(ks identity.Keys)     { o.links = append(o.links, identity.SeenLinks(ks)...) }
func (o *oracle) add(f identity.Link)      { o.links = append(o.links, f) }
func covers(f identity.Link, t int64) bool { return f.From <= t && t < f.To }

// stays lists when each object held a node: the object's openings and ends in order of time, an end
// before a beginning at one instant.
func (o *oracle) stays(node string, kind identity.Kind) []identity.Interval {
	byObject := map[string][]identity.Link{}
	for _, f := range o.links {
		if f.Subject == key(identity.Node, node) && f.Object.Kind == kind && f.Type >= identity.Opened && f.Type <= identity.Lost {
			byObject[f.Object.ID] = append(byObject[f.Object.ID], f)
		}
	}
	var out []identity.Interval
	for object, links := range byObject {
		slices.SortFunc(links, func(a, b identity.Link) int {
			if a.From != b.From {
				return int(a.From - b.From)
			}
			return int(b.Type) - int(a.Type)
		})
		since, over := int64(-1), false
		for _, f := range links {
			switch {
			case f.Type == identity.Opened && since < 0 && !over:
				since = f.From
			case f.Type != identity.Opened && since >= 0:
				out = append(out, identity.Interval{Object: object, From: since, To: f.From})
				since, over = -1, kind == identity.NodeInstance && f.Type == identity.Closed
			case f.Type == identity.Closed && kind == identity.NodeInstance:
				over = true
			}
		}
		if since >= 0 {
			out = append(out, identity.Interval{Object: object, From: since, To: identity.Forever})
		}
	}
	if kind == identity.NodeInstance { // it ends when another one begins
		for i := range out {
			for _, other := range out {
				if other.Object != out[i].Object && other.From > out[i].From {
					out[i].To = min(out[i].To, other.From)
				}
			}
		}
	}
	return out
}

// holder is who held a node last of those that held it at a time; "" where two began together.
func holder(stays []identity.Interval, t int64) string {
	since, who := int64(-1), ""
	for _, s := range stays {
		switch {
		case t < s.From || t >= s.To || s.From < since:
		case s.From > since:
			since, who = s.From, s.Object
		case s.Object != who:
			who = ""
		}
	}
	return who
}

// closure gives the allocation of every immovable subject, "" for shared ones (ADR 2).
func (o *oracle) closure() map[identity.Key]string {
	direct, peers := map[identity.Key]map[string]bool{}, map[identity.Key]map[identity.Key]bool{}
	put := func(a, b identity.Key) {
		if peers[a] == nil {
			peers[a] = map[identity.Key]bool{}
		}
		peers[a][b] = true
	}
	for _, f := range o.links {
		switch {
		case !f.Subject.Kind.Immovable():
		case f.Object.Kind == identity.Allocation:
			if direct[f.Subject] == nil {
				direct[f.Subject] = map[string]bool{}
			}
			direct[f.Subject][f.Object.ID] = true
		case f.Object.Kind.Immovable():
			put(f.Subject, f.Object)
			put(f.Object, f.Subject)
		}
	}
	own, blocked := map[identity.Key]string{}, map[identity.Key]bool{}
	for s, all := range direct {
		for a := range all {
			own[s] = a
		}
		blocked[s] = len(all) > 1
	}
	for {
		label, met := map[identity.Key]string{}, map[identity.Key]bool{}
		var level []identity.Key
		for s, a := range own {
			if !blocked[s] {
				label[s] = a
				level = append(level, s)
			}
		}
		for len(level) > 0 {
			arrived := map[identity.Key]map[string]bool{}
			for _, s := range level {
				for p := range peers[s] {
					if label[p] == "" && !met[p] && !blocked[p] {
						if arrived[p] == nil {
							arrived[p] = map[string]bool{}
						}
						arrived[p][label[s]] = true
					}
				}
			}
			level = nil
			for p, all := range arrived {
				if len(all) > 1 {
					met[p] = true
					continue
				}
				for a := range all {
					label[p] = a
				}
				level = append(level, p)
			}
		}
		most, worst := 0, []identity.Key(nil)
		for s := range peers {
			suspect, around := met[s], map[string]bool{}
			if label[s] != "" {
				around[label[s]] = true
			}
			for p := range peers[s] {
				if label[p] == "" || blocked[p] {
					continue
				}
				around[label[p]] = true
				suspect = suspect || label[s] != "" && label[s] != label[p] && (own[s] == "" || own[p] == "")
			}
			if blocked[s] || !suspect || own[s] != "" && len(around) < 3 {
				continue
			}
			if len(around) > most {
				most, worst = len(around), nil
			}
			if len(around) == most {
				worst = append(worst, s)
			}
		}
		if len(worst) == 0 {
			for s := range blocked {
				if blocked[s] {
					delete(label, s)
				}
			}
			return label
		}
		for _, s := range worst {
			blocked[s] = true
		}
	}
}

// resolve gives what the index must give for a record: allocation, node, node instance and via.
func (o *oracle) resolve(closure map[identity.Key]string, ks identity.Keys, at, observed int64) (r identity.Resolution) {
	r.Node, r.NodeInstance = ks.First(identity.Node), ks.First(identity.NodeInstance)
	said, node := r.NodeInstance != "", r.Node != ""
	for _, f := range o.links { // claim → node instance, node instance → node
		if f.Type == identity.Bind && r.NodeInstance == "" && f.Object.Kind == identity.NodeInstance && ks.Has(f.Subject) && covers(f, at) {
			r.NodeInstance = f.Object.ID
			said = said || f.Subject.Kind == identity.Resource
		}
	}
	for _, f := range o.links {
		switch {
		case r.NodeInstance == "" || r.Node != "":
		case f.Subject.Kind == identity.Node && f.Object == key(identity.NodeInstance, r.NodeInstance):
			r.Node = f.Subject.ID
		case f.Type == identity.Seen && f.Subject == key(identity.NodeInstance, r.NodeInstance):
			r.Node = f.Object.ID
		}
	}
	for _, f := range o.links { // resource → node
		if f.Type == identity.Bind && r.Node == "" && f.Subject.Kind == identity.Resource && f.Object.Kind == identity.Node && ks.Has(f.Subject) && covers(f, at) {
			r.Node, node = f.Object.ID, true
		}
	}
	when, lives := at, o.stays(r.Node, identity.NodeInstance)
	if r.NodeInstance == "" {
		r.NodeInstance = holder(lives, at)
	} else {
		first, last := identity.Forever, identity.Always
		for _, l := range lives {
			if l.Object == r.NodeInstance {
				first, last = min(first, l.From), max(last, l.To)
			}
		}
		if first != identity.Forever && (at < first || at >= last) {
			r.BeforeInstance = at < first
			if when = observed; observed < first || observed >= last {
				when = -1
			}
		}
	}
	if a := ks.First(identity.Allocation); a != "" {
		r.Allocation, r.Via = a, identity.Explicit
	}
	for k := identity.Workflow; k <= identity.Trace && r.Allocation == ""; k++ {
		found := map[string]bool{}
		for _, key := range ks {
			if key.Kind == k && o.belongs(closure, key, at) != "" {
				found[o.belongs(closure, key, at)] = true
			}
		}
		for a := range found {
			if len(found) == 1 {
				r.Allocation, r.Via = a, identity.Via(k.String())
			}
		}
	}
	if r.Allocation == "" && (said || node) {
		if r.Allocation = holder(o.stays(r.Node, identity.Allocation), when); r.Allocation != "" {
			r.Via = identity.Via(identity.Node.String())
			if said {
				r.Via = identity.Via(identity.NodeInstance.String())
			}
		}
	}
	return r
}

// belongs is what is stated of a subject at a time, nothing where it is stated for other times only;
// else the closure's answer.
func (o *oracle) belongs(closure map[identity.Key]string, s identity.Key, at int64) string {
	since, who, elsewhen, stated := identity.Always, "", false, false
	for _, f := range o.links {
		if f.Type != identity.Bind || f.Subject != s {
			continue
		}
		a := f.Object.ID
		if f.Object.Kind != identity.Allocation {
			if !f.Object.Kind.Immovable() {
				continue
			}
			a = o.belongs(closure, f.Object, at)
		}
		switch {
		case !covers(f, at):
			elsewhen = elsewhen || f.Object.Kind == identity.Allocation
		case a == "":
		case !stated || f.From > since:
			since, who, stated = f.From, a, true
		case f.From == since && a != who:
			who = ""
		}
	}
	if stated || elsewhen {
		return who
	}
	return closure[s]
}
