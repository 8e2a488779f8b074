package correlator

import (
	"math"
	"slices"
	"time"
)

// besideTime is how long before a step began something may have been said that explains it.
const besideTime = int64(10 * time.Minute)

// Beside lists, in order, the plain records around a trouble that a rule finds telling and that belong to no other allocation and to
// no other node: the allocation's own of any severity, and those under nobody's identifiers. What they say may be why; that
// they stand beside the trouble proves nothing. telling is asked once for each record of the case.
func (c *Case) Beside(t *Trouble, telling func(*Event) bool) []*Event {
	if list, ok := c.beside[t]; ok {
		return list
	}
	if c.Profile.FirstFailure() {
		return nil // among peers everybody speaks of everybody's work
	}
	if c.telling == nil {
		c.telling = []*Event{}
		c.lookup(indexKey{}).each(math.MinInt64, math.MaxInt64, func(e *Event) {
			if (!e.IsEvent() || !isLifecycle(e.Name)) && e.Text != "" && telling(e) {
				c.telling = append(c.telling, e)
			}
		})
	}
	var out []*Event
	from, to := t.From-besideTime, t.At+skew
	for _, e := range c.telling[firstAt(c.telling, from):firstAt(c.telling, to+1)] {
		if c.near(e, t) {
			out = append(out, e)
		}
	}
	if late := c.mistimed(t); len(late) > 0 {
		out = append(out, late...)
		slices.SortStableFunc(out, CompareEvents)
		out = slices.Compact(out)
	}
	if c.beside == nil {
		c.beside = map[*Trouble][]*Event{}
	}
	c.beside[t] = out
	return out
}

// mistimed are the plain records of the allocation's nodes that were seen around a trouble and are stamped with quite another
// time: a node whose clock is wrong says so in the past.
func (c *Case) mistimed(t *Trouble) (out []*Event) {
	nodes := c.Lifecycle.Nodes
	if t.Node != "" {
		nodes = []string{t.Node}
	}
	from, to := t.From-besideTime, t.At+skew
	for _, e := range c.telling {
		if (e.At < from || e.At > to) && e.Observed >= from && e.Observed <= to && slices.Contains(nodes, e.Node) {
			out = append(out, e)
		}
	}
	return out
}

// near says whether a record may concern a trouble by where it comes from: not another node's, nor another node instance's.
func (c *Case) near(e *Event, t *Trouble) bool {
	return e.Node == "" || c.ours(e, t) && !c.otherInstance(e, t)
}

// Own says whether a record is the allocation's own, or of a node that works for it.
func (c *Case) Own(e *Event, t *Trouble) bool { return e.Allocation == c.ID || c.ours(e, t) }

// ours says whether a record speaks of a node that works for the allocation.
func (c *Case) ours(e *Event, t *Trouble) bool {
	if t.Node != "" {
		return Names(e, t.Node)
	}
	return slices.ContainsFunc(c.Lifecycle.Nodes, func(n string) bool { return Names(e, n) })
}
