package correlator

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// maxFailures bounds what is read around one trouble: the first of them say how it began, the last how it
// ended. What lies between was said a thousand times before.
const maxFailures = 4000

// Failures lists, in order, the records that tell of failures around a trouble and concern it: the
// allocation's own, records without an allocation that name the node, and answers to the node's requests.
func (c *Case) Failures(t *Trouble) []*Event {
	if list, ok := c.failures[t]; ok {
		return list
	}
	var out []*Event
	for _, e := range c.ownFailures().around(t.From-skew, t.At+skew) {
		if c.concerns(e, t) {
			out = append(out, e)
		}
	}
	if t.Node != "" {
		context := c.lookup(indexKey{what: failing}).unattributed
		for _, e := range context[firstAt(context, t.From-lookback):] {
			if e.At >= t.At+skew {
				break
			}
			if Names(e, t.Node) && !c.otherInstance(e, t) {
				out = append(out, e)
			}
		}
		out = append(out, c.answersTo(t, out)...)
	}
	slices.SortStableFunc(out, CompareEvents)
	if len(out) > maxFailures {
		out = append(out[:maxFailures/2:maxFailures/2], out[len(out)-maxFailures/2:]...)
	}
	if c.failures == nil {
		c.failures = map[*Trouble][]*Event{}
	}
	c.failures[t] = out
	return out
}

// answersTo are failures without an allocation and without a node, in the traces of failures that name the trouble's node:
// whoever refuses a caller that was not shown to it cannot say whom.
func (c *Case) answersTo(t *Trouble, failures []*Event) (out []*Event) {
	traces := map[string]bool{}
	for _, e := range failures {
		if e.TraceID != "" && Names(e, t.Node) {
			traces[e.TraceID] = true
		}
	}
	if len(traces) == 0 {
		return nil
	}
	context := c.lookup(indexKey{what: failing}).unattributed
	for _, e := range context[firstAt(context, t.From-lookback):] {
		if e.At >= t.At+skew {
			break
		}
		if e.Node == "" && e.NodeInstance == "" && traces[e.TraceID] && !Names(e, t.Node) {
			out = append(out, e)
		}
	}
	return out
}

// ownFailures are the allocation's own records that tell of a failure.
func (c *Case) ownFailures() spanning {
	if c.failing.events == nil {
		c.failing = spanningOf(c.lookup(indexKey{what: failing}).own)
	}
	return c.failing
}

// Quiet lists what was said below a warning in the traces and requests of a trouble's failures: a service
// may give the reason of a refusal at DEBUG alone.
func (c *Case) Quiet(t *Trouble) []*Event {
	if list, ok := c.quiet[t]; ok {
		return list
	}
	traces := map[string]bool{}
	for _, e := range c.Failures(t) {
		for _, id := range []string{e.TraceID, e.Own(identity.Request)} {
			if id != "" {
				traces[id] = true
			}
		}
	}
	var out []*Event
	seen := map[*Event]bool{}
	for id := range traces {
		for _, e := range c.thread(id) {
			if e.At >= t.From-lookback && e.At <= t.At+lookback && !seen[e] {
				seen[e] = true
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, CompareEvents)
	if c.quiet == nil {
		c.quiet = map[*Trouble][]*Event{}
	}
	c.quiet[t] = out
	return out
}

// thread lists what was said below a warning under one trace or request of a failure. Only those of failures are
// sorted out: of most traces nobody asks.
func (c *Case) thread(id string) []*Event {
	if c.threads != nil {
		return c.threads[id]
	}
	c.threads = map[string][]*Event{}
	wanted := map[string]bool{}
	failing, all := c.lookup(indexKey{what: failing}), c.lookup(indexKey{})
	for _, list := range [][]*Event{failing.own, failing.unattributed} {
		for _, e := range list {
			for _, id := range []string{e.TraceID, e.Own(identity.Request)} {
				if id != "" { // a proxy's request may be another's trace
					wanted[id] = true
				}
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for _, list := range [][]*Event{all.own, all.unattributed} {
		for _, e := range list {
			if e.IsEvent() || e.fails {
				continue
			}
			if e.TraceID != "" && wanted[e.TraceID] {
				c.threads[e.TraceID] = append(c.threads[e.TraceID], e)
			}
			if request := e.Own(identity.Request); request != "" && request != e.TraceID && wanted[request] {
				c.threads[request] = append(c.threads[request], e)
			}
		}
	}
	return c.threads[id]
}

// otherInstance says whether a record belongs to another node instance than the one that the trouble
// happened on: its complaints are another story.
func (c *Case) otherInstance(e *Event, t *Trouble) bool {
	own := e.Own(identity.NodeInstance)
	return own != "" && t.Instance != "" && own != t.Instance
}

// concerns says whether a record of this allocation is about this trouble and not about another one
// that went on at the same time: a user's failed look at a page is no reason for a failed task.
func (c *Case) concerns(e *Event, t *Trouble) bool {
	calls := c.userCalls()
	ofUser := e.Layer == semconv.LayerClient || calls[e.TraceID] || calls[e.Own(identity.Request)]
	if t.Kind == RequestTrouble {
		return ofUser || (e.Node == "" || e.Node == t.Node) && e.Own(identity.Task) == ""
	}
	// What was left to others goes on in the caller's trace, which the outbox carries: the user got his answer long ago.
	if ofUser && !slices.Contains(later, e.Layer) {
		return t.Kind == StateTrouble || t.Kind == OverdueTrouble
	}
	if t.Node != "" && e.Node != "" && e.Node != t.Node {
		return false
	}
	return !c.otherInstance(e, t)
}

// later are the layers that work for a request after it was answered.
var later = []string{semconv.LayerOutbox, semconv.LayerWorkflow, semconv.LayerProvider, semconv.LayerNodeAgent, semconv.LayerNode}

// userCalls holds the traces and requests that clients began.
func (c *Case) userCalls() map[string]bool {
	if c.calls != nil {
		return c.calls
	}
	out := map[string]bool{}
	c.calls = out
	for _, e := range c.Events {
		if e.Layer != semconv.LayerClient {
			continue
		}
		for _, id := range []string{e.TraceID, e.Own(identity.Request)} {
			if id != "" {
				out[id] = true
			}
		}
	}
	delete(out, "")
	return out
}

// besideTime is how long before a step began something may have been said that explains it.
const besideTime = int64(10 * time.Minute)

// bootBefore is how long before a step began a machine may have said what is wrong with it: at its boot.
const bootBefore = int64(30 * time.Minute)

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
	for _, e := range c.telling[firstAt(c.telling, t.From-Throughout):firstAt(c.telling, to+1)] {
		if c.near(e, t) && (e.At >= from || e.Node != "" && (e.Layer == semconv.LayerNode || e.Layer == semconv.LayerNodeAgent && t.NeverTaken()) && e.At >= t.From-bootBefore || c.saidAgain(e) > t.From || c.Lasts(e, t.From) || c.portLasts(e, t.From)) {
			out = append(out, e)
		}
	}
	if t.Kind == OverdueTrouble && t.Cleared == 0 {
		out = append(out, c.goesOn(out, to)...)
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

// goesOn are the later records, after a time, in which somebody goes on saying what he said before: of a step that still stands.
func (c *Case) goesOn(said []*Event, after int64) (out []*Event) {
	before := map[string]bool{}
	for _, e := range said {
		if c.saidAgain(e) > after {
			before[e.Service+" "+pattern(e.Text)] = true
		}
	}
	if len(before) == 0 {
		return nil
	}
	for _, e := range c.telling[firstAt(c.telling, after+1):] {
		if e.Allocation == "" && before[e.Service+" "+pattern(e.Text)] {
			out = append(out, e)
		}
	}
	return out
}

// Throughout is how long before a step began something may have been said first that was said again while it lasted, in nanoseconds. Readers keep complaints
// for as long.
const Throughout = bootBefore

// saidAgain is when a service said the same for the last time.
func (c *Case) saidAgain(e *Event) int64 {
	if c.telling == nil {
		return 0 // nobody has asked what stands beside a trouble
	}
	type key struct{}
	said := c.Memo(key{}, func() any {
		last := map[string]int64{}
		for _, e := range c.telling {
			if e.Allocation == "" {
				last[e.Service+" "+pattern(e.Text)] = e.At
			}
		}
		return last
	}).(map[string]int64)
	return said[e.Service+" "+pattern(e.Text)]
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
	return e.Node == "" || c.ours(e, t) && !c.otherInstance(e, t) || e.Layer == semconv.LayerProvider && c.hosts()[e.Node]
}

// hosts are the machines that the allocation's own failed calls were sent to or name in their paths: a hypervisor on which a provider does its work.
func (c *Case) hosts() map[string]bool {
	type key struct{}
	return c.Memo(key{}, func() any {
		out := map[string]bool{}
		for _, e := range c.ownFailures().events {
			if e.IsEvent() {
				continue
			}
			host, _, _ := strings.Cut(e.Attr(semconv.ServerAddress), ".")
			if host != "" && strings.Contains(e.Text+" "+e.Name, "/"+host+"/") {
				out[host] = true
			}
		}
		if len(c.Lifecycle.Nodes) == 0 {
			c.named(out)
		}
		return out
	}).(map[string]bool)
}

// named adds the machines that providers complain of and that the allocation's own records name, where nobody tells of an assignment.
func (c *Case) named(out map[string]bool) {
	const short = 6
	asked := map[string]bool{}
	for _, e := range c.lookup(indexKey{what: failing}).unattributed {
		if e.Layer != semconv.LayerProvider || len(e.Node) < short || asked[e.Node] || !strings.ContainsAny(e.Node, "0123456789") {
			continue
		}
		asked[e.Node] = true
		node := strings.ToLower(e.Node)
		out[e.Node] = out[e.Node] || slices.ContainsFunc(c.Events, func(own *Event) bool {
			return !own.IsEvent() && strings.Contains(own.Text, node) || strings.Contains(strings.ToLower(own.Own(identity.ProviderJob)), node)
		})
	}
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

// shortestAddress is how short an address may be and still be told from other words of a text.
const shortestAddress = 7

// Mentions says whether one of the allocation's own plain records names an address.
func (c *Case) Mentions(address string) bool {
	if len(address) < shortestAddress {
		return false
	}
	type key struct{ address string }
	return c.Memo(key{address}, func() any {
		return slices.ContainsFunc(c.Events, func(e *Event) bool { return !e.IsEvent() && strings.Contains(e.Text, address) })
	}).(bool)
}
