package correlator

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Env is what cases that are judged side by side share. They are judged one after the other, since they share its selections
// of records. Dataset.Cases fills in Durations, Liveness and Others when all cases are there, before the first of them is judged.
type Env struct {
	Profile *profile.Profile
	Index   *identity.Index
	Now     int64 // the newest observed time, or as_of
	// Watermark is the observed time up to which every record has arrived; 0: all records have. A deadline that passed
	// later is not held against anybody yet.
	Watermark int64
	// Durations are what such steps took elsewhere; nil where nobody knows.
	Durations Durations
	// Unattributed are records that belong to no allocation, in order of time; they can be cited, never attributed.
	Unattributed []*Event
	// Liveness are signs of life of layers, from other allocations; nil where no other allocation is known.
	Liveness *Liveness
	// Others is what other allocations were answered (see Event.Answers), in order of time; the case's own may be among them.
	Others []*Event

	selections selections // of Unattributed
}

// Case is all that is known of one allocation when it is judged.
type Case struct {
	ID     string
	Serial int64 // of this case alone: what was read of an event in another one may be read again
	*Env
	Events    []*Event // the allocation's own, in causal order
	Lifecycle Lifecycle

	parents []parentLink // spans whose parent is there too

	// Worked out once, when they are first asked for.
	troubles []*Trouble
	failures map[*Trouble][]*Event
	calls    map[string]bool   // see userCalls
	hung     map[string]bool   // see hangups
	lost     map[string]bool   // see misroutes
	asked    map[string]string // see keyOf
	failing  spanning          // own events that tell of a failure
	quiet    map[*Trouble][]*Event
	beside   map[*Trouble][]*Event
	telling  []*Event            // see Beside
	threads  map[string][]*Event // see thread
	own      selections          // of Events
	memo     map[any]any         // what rules read of the whole case; see Memo
	silences []silence           // layers of which nothing was heard when it would have decided; see gaps
	borrowed []*Event            // records of other allocations that were given to rules
}

// silence is a layer of which nothing was heard in [from, to].
type silence struct {
	layer    string
	from, to int64
}

var serials atomic.Int64

// NewCase puts an allocation's own events, in any order, into a case.
func NewCase(id string, events []*Event, env *Env) *Case {
	c := &Case{ID: id, Serial: serials.Add(1), Env: env}
	placeStrangers(events, env.Profile)
	c.Events, c.parents = order(events)
	c.Lifecycle = readLifecycle(c.Events, env.unattributed(indexKey{namedEvent, "", semconv.EventAudit}))
	return c
}

// manyRules is for how many keys a case has room from the beginning: most rules ask at the first trouble.
const manyRules = 64

// Memo gives what read finds in the whole case under a key, which is asked only once: a rule that is asked at every trouble must not pass
// over every record each time.
func (c *Case) Memo(key any, read func() any) any {
	found, known := c.memo[key]
	if !known {
		if c.memo == nil {
			c.memo = make(map[any]any, manyRules)
		}
		found = read()
		c.memo[key] = found
	}
	return found
}

// watermark is the time up to which deadlines count: what was observed by then has arrived.
func (e *Env) watermark() int64 {
	if e.Watermark == 0 {
		return e.Now
	}
	return min(e.Now, e.Watermark)
}

// UnattributedBetween gives the unattributed records of [from, to).
func (c *Case) UnattributedBetween(from, to int64) []*Event {
	i, j := firstAt(c.Unattributed, from), firstAt(c.Unattributed, to)
	return c.Unattributed[i:max(i, j)]
}

// canceledBefore says whether somebody asked for the end before a time, give or take a moment of skew.
func (c *Case) canceledBefore(t int64) bool {
	return c.Lifecycle.Cancel != nil && c.Lifecycle.Cancel.At <= t+int64(2*time.Second)
}

// lookup gives a selection of the case's own events and of the unattributed ones.
func (c *Case) lookup(s indexKey) eventIndex {
	if c.own == nil {
		own := c.Events
		if !slices.IsSortedFunc(own, CompareEvents) {
			own = inTime(own)
		}
		c.own = selections{{}: own}
	}
	return eventIndex{c.own.get(s), c.unattributed(s)}
}

// unattributed gives a selection of the unattributed events alone.
func (e *Env) unattributed(s indexKey) []*Event {
	if e.selections == nil {
		e.selections = selections{{}: e.Unattributed}
	}
	return e.selections.get(s)
}

// Each calls look for every event of [from, to], own and context, in order of time.
func (c *Case) Each(from, to int64, look func(*Event)) { c.lookup(indexKey{}).each(from, to, look) }

// EachIn is Each of what proves that a layer's telemetry is alive (see Shows).
func (c *Case) EachIn(layer string, from, to int64, look func(*Event)) {
	c.lookup(indexKey{ofLayer, layer, ""}).each(from, to, look)
}

// EachEvent is Each of the lifecycle events of one name.
func (c *Case) EachEvent(name string, from, to int64, look func(*Event)) {
	c.lookup(indexKey{namedEvent, "", name}).each(from, to, look)
}

// EachBoot is Each of the records that carry a boot id and speak of a node.
func (c *Case) EachBoot(node string, from, to int64, look func(*Event)) {
	c.lookup(indexKey{withBoot, "", node}).each(from, to, look)
}

// LastOf is a layer's newest record in [from, to] that speaks of a node, nil where there is none.
func (c *Case) LastOf(layer, node string, from, to int64) *Event {
	return c.lookup(indexKey{aboutNode, layer, node}).last(from, to, func(e *Event) bool { return e.Layer == layer })
}

// Shows says whether a record proves that a layer's telemetry is alive.
func (c *Case) Shows(e *Event, layer string) bool { return e.inLayer(layer) }

// AliveBetween says whether a layer's telemetry is proven alive in [from, to]: any record of it, whoever it belongs
// to (docs/domain.md §4.10, rule 2: a heartbeat, other requests). It gives the newest such record, the allocation's own
// and one without an allocation before one of another allocation.
func (c *Case) AliveBetween(layer string, from, to int64) *Event {
	signs := c.lookup(indexKey{ofLayer, layer, ""})
	if e := signs.last(from, to, EveryReaderHas); e != nil || layer == "" {
		return e
	}
	if e := signs.last(from, to, nil); e != nil {
		return e
	}
	list := c.Liveness.of(layer)
	for i := firstAt(list, to+1) - 1; i >= 0 && list[i].At >= from; i-- {
		if e := list[i]; e.Allocation != c.ID {
			c.Borrow(e)
			return e
		}
	}
	return nil
}

// EveryReaderHas says whether a record is read wherever a case comes from, and is cited before others: of what nobody owns and nobody
// complains of, a store gives heartbeats, rollouts and lines with telling words alone.
func EveryReaderHas(e *Event) bool {
	return e.Allocation != "" || e.fails || e.IsEvent() || e.Node != ""
}

// aliveOn is AliveBetween of one node's part of a layer.
func (c *Case) aliveOn(layer, node string, from, to int64) *Event {
	return c.lookup(indexKey{aboutNode, layer, node}).last(from, to, nil)
}

// entered is the record by which the allocation entered its state.
func (c *Case) entered() *Event {
	state, since, _ := c.Lifecycle.State()
	for _, s := range c.Lifecycle.States {
		if s.To == state && s.At == since {
			return s.Event
		}
	}
	return nil
}
