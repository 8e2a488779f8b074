package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// FourStates are what was asked for, what is being done about it, what is so, and what views show, side by side.
type FourStates struct {
	ID        string        `json:"allocation_id"`
	AsOf      Time          `json:"as_of"`
	Desired   *DesiredState `json:"desired"` // nil where no record says what was asked for
	Execution []RunState    `json:"execution"`
	Observed  []RunState    `json:"observed"`
	Projected []ShownState  `json:"projected"`
	Drift     []Drift       `json:"drift"`
	// Handoffs are the orders of the allocation as they stand now, from the outbox inwards.
	Handoffs []HandoffState `json:"handoffs"`
}

// DesiredState is what was asked for last.
type DesiredState struct {
	Value string `json:"value"` // the allocation state that it leads to: active, released, canceled
	Since Time   `json:"since"`
	By    string `json:"by"` // who asked, as the record says it
	Ref   string `json:"ref"`
}

// RunState is the state of one thing: a workflow, task, provider_job or outbox; the allocation, or a node's occupancy.
type RunState struct {
	Kind      string `json:"kind"`
	ID        string `json:"id"`
	Operation string `json:"operation,omitempty"`
	Value     string `json:"value"`
	Since     Time   `json:"since"`
	Ref       string `json:"ref"`
}

// ShownState is what a view showed when it was looked at last.
type ShownState struct {
	Projection string `json:"projection"`
	Field      string `json:"field"`
	Value      string `json:"value"`
	Seen       Time   `json:"seen"`
	AsOf       *Time  `json:"as_of"` // when the view was refreshed, by its own account
	Drift      bool   `json:"drift"`
	Ref        string `json:"ref"`
}

// States puts the four states side by side.
func (c *Case) States() FourStates {
	out := FourStates{ID: c.ID, AsOf: Time(c.Now), Desired: c.desired(), Execution: c.execution(), Observed: c.observed(), Projected: []ShownState{}, Handoffs: c.handoffStates()}
	var drifting []projectionKey
	out.Drift, drifting = drifts(c)
	newest := map[projectionKey]*Event{}
	var keys []projectionKey
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventProjection}).own {
		k := projectionKeyOf(e)
		if newest[k] == nil {
			keys = append(keys, k)
		}
		newest[k] = e
	}
	for _, k := range keys {
		e := newest[k]
		shown := ShownState{Projection: k.projection, Field: k.field, Value: e.Attr(semconv.Value), Seen: Time(e.At), Drift: slices.Contains(drifting, k), Ref: e.Ref}
		if asOf, err := record.ParseTime(e.Attr(semconv.AsOf)); err == nil && asOf != 0 {
			at := Time(asOf)
			shown.AsOf = &at
		}
		out.Projected = append(out.Projected, shown)
	}
	return out
}

// wishes are the states that operations, and states on the way, lead to.
var wishes = map[string]string{
	"provision": semconv.Active, "reimage": semconv.Active, semconv.Requested: semconv.Active,
	"release": semconv.Released, semconv.Releasing: semconv.Released,
	"cancel": semconv.Canceled, semconv.Canceling: semconv.Canceled, "delete": semconv.Released,
}

// desired is the newest wish: of a person or a system (audit), of the operation that a workflow began with, or as the first state of
// an operation tells it.
func (c *Case) desired() *DesiredState {
	var last *DesiredState
	for _, e := range c.Events {
		word := ""
		switch {
		case e.Is(semconv.EventAudit):
			for part := range strings.FieldsFuncSeq(strings.ToLower(e.Attr(semconv.Action)), func(r rune) bool { return r < 'a' || r > 'z' }) {
				if wishes[part] != "" {
					word = part
				}
			}
		case e.Is(semconv.EventWorkflowState) && (e.To() == "scheduled" || e.To() == "running"):
			word = e.Attr(semconv.Operation)
		case e.Is(semconv.EventAllocationState):
			word = e.To()
		}
		value := wishes[word]
		if value == "" || last != nil && last.Value == value {
			continue
		}
		last = &DesiredState{Value: value, Since: Time(e.At), By: firstOf(e.Attr(semconv.Actor), e.Service), Ref: e.Ref}
	}
	return last
}

// execution is the newest run of each kind.
func (c *Case) execution() []RunState {
	out := []RunState{}
	for _, kind := range []struct {
		name string
		runs []*Run
	}{{"workflow", c.Lifecycle.Workflows}, {"provider_job", c.Lifecycle.Jobs}, {"outbox", c.Lifecycle.Outbox}} {
		var newest *Run
		for _, r := range kind.runs {
			if newest == nil || r.Last().At >= newest.Last().At {
				newest = r
			}
		}
		if newest != nil {
			last := newest.Last()
			out = append(out, RunState{kind.name, newest.ID, newest.Operation, last.To, Time(entered(newest.Changes)), last.Event.Ref})
		}
	}
	if n := len(c.Lifecycle.Tasks); n > 0 {
		newest := slices.MaxFunc(c.Lifecycle.Tasks, func(a, b *Attempt) int { return int(a.From() - b.From()) })
		for _, e := range []*Event{newest.Over, newest.Taken, newest.Queued} {
			if e != nil {
				out = append(out, RunState{"task", newest.Task, newest.Type, e.To(), Time(e.At), e.Ref})
				break
			}
		}
	}
	return out
}

// entered is when the last state of some moves was entered: a repeat does not count.
func entered(moves []Change) int64 {
	state, since := "", int64(0)
	for _, m := range moves {
		if m.To != state {
			state, since = m.To, m.At
		}
	}
	return since
}

// leftAt is when the allocation let go of each node that it does not hold any more. What becomes of a node from then on is told in
// records that are not the allocation's.
func (c *Case) leftAt() map[string]int64 {
	left := map[string]int64{}
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventNodeUnassigned}).own {
		left[e.Node] = max(left[e.Node], e.At)
	}
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventNodeAssigned}).own {
		if e.At >= left[e.Node] {
			delete(left, e.Node)
		}
	}
	return left
}

// observed is the allocation's state as its controller tells it, and what its nodes are; what a node was before the allocation let
// go of it is not known to be so any more.
func (c *Case) observed() []RunState {
	out, left := []RunState{}, c.leftAt()
	if n := len(c.Lifecycle.States); n > 0 {
		last := c.Lifecycle.States[n-1]
		out = append(out, RunState{"allocation", c.ID, "", last.To, Time(entered(c.Lifecycle.States)), last.Event.Ref})
	}
	for _, kind := range []struct{ name, event string }{{"node", semconv.EventNodeOccupancy}, {"node_instance", semconv.EventNodeInstance}} {
		last := map[string]*RunState{}
		var names []string
		for _, e := range c.lookup(indexKey{namedEvent, "", kind.event}).own {
			id := e.Node
			if kind.name == "node_instance" {
				id = e.Own(identity.NodeInstance)
			}
			if id == "" || e.To() == "" || e.At < left[e.Node] {
				continue
			}
			if last[id] == nil {
				last[id] = &RunState{Kind: kind.name, ID: id}
				names = append(names, id)
			}
			if one := last[id]; one.Value != e.To() {
				one.Value, one.Since, one.Ref = e.To(), Time(e.At), e.Ref
			}
		}
		for _, id := range names {
			out = append(out, *last[id])
		}
	}
	return out
}
