package recovery

import (
	"context"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
)

// ownerOperator owns what no part of the platform will move by itself. The other owners are layers.
const ownerOperator = "operator"

// longest list of one kind.
const longest = 500

// Kinds are those of what may be stuck.
func Kinds() []string {
	return []string{"allocation", "workflow", "task", "provider_job", "message", "node", "projection"}
}

// Item is one thing that is stuck.
type Item struct {
	Kind         string    `json:"kind"` // one of Kinds
	ID           string    `json:"id"`
	AllocationID string    `json:"allocation_id,omitempty"`
	NodeID       string    `json:"node_id,omitempty"`
	State        string    `json:"state"`
	Since        time.Time `json:"since"`
	Why          string    `json:"why,omitempty"`
	Owner        string    `json:"owner"`   // of the next move: a layer, or operator
	Actions      []Legal   `json:"actions"` // that are legal now
}

// Legal is an action that nothing but the request's own words stands against.
type Legal struct {
	Action string      `json:"action"`
	Of     Kind        `json:"of"`
	ID     string      `json:"id"`
	Role   access.Role `json:"role"`
}

// Stuck is everything that somebody must look at.
type Stuck struct {
	AsOf      time.Time `json:"as_of"`
	Before    time.Time `json:"before"` // what is on its way since later is not stuck
	Items     []Item    `json:"items"`
	Truncated bool      `json:"truncated"` // some kind has more than are listed
}

// Stuck lists it. older is how long something may be on its way; 0 takes the configured time.
func (d *Service) Stuck(ctx context.Context, older time.Duration) (out Stuck, err error) {
	if older <= 0 {
		older = d.config.StuckAfter
	}
	now := d.store.Now()
	out = Stuck{AsOf: now.UTC(), Before: now.Add(-older).UTC(), Items: []Item{}}
	err = d.store.View(ctx, "everything stuck", func(t *store.Tx) error {
		s := search{t: t, before: now.Add(-older), out: &out}
		for _, look := range []func() error{s.allocations, s.workflows, s.tasks, s.providerJobs, s.messages, s.nodes, s.projections} {
			if err := look(); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

type search struct {
	t      *store.Tx
	before time.Time
	out    *Stuck
}

// add lists one, with what may be done to it or to what it belongs to.
func (s search) add(i Item, n int, of Kind, id string) error {
	s.out.Truncated = s.out.Truncated || n >= longest
	i.Since, i.Actions = i.Since.UTC(), []Legal{}
	w := &work{tx: s.t, asked: Request{ID: id}}
	if id != "" {
		if err := w.load(of); err != nil && !store.IsNotFound(err) {
			return err
		} else if err == nil {
			names, err := legal(w, of)
			if err != nil {
				return err
			}
			for _, name := range names {
				a, _ := Named(of, name)
				i.Actions = append(i.Actions, Legal{name, of, id, a.Role})
			}
		}
	}
	s.out.Items = append(s.out.Items, i)
	return nil
}

func (s search) allocations() error {
	all, err := s.t.UnsettledAllocations(s.before, longest)
	for _, a := range all {
		owner, why, err := s.next(a)
		if err != nil {
			return err
		}
		if err := s.add(Item{Kind: "allocation", ID: a.ID, AllocationID: a.ID, NodeID: a.NodeID, State: a.State, Since: a.Since, Why: why, Owner: owner},
			len(all), Allocations, a.ID); err != nil {
			return err
		}
	}
	return err
}

// next says who owns an allocation's next move.
func (s search) next(a store.Allocation) (owner, why string, err error) {
	if lifecycle.Settled(a.State) {
		return ownerOperator, a.Reason, nil
	}
	for _, op := range []string{lifecycle.OperationProvision, lifecycle.OperationRelease, lifecycle.OperationCancel} {
		w, err := s.t.OpenWorkflow(a.ID, op)
		if err == nil {
			return waitsFor(w), "workflow " + w.ID + " is " + w.State + on(w), nil
		}
		if !store.IsNotFound(err) {
			return "", "", err
		}
	}
	return semconv.LayerOutbox, "no workflow has begun", nil
}

func on(w store.Workflow) string {
	if w.WaitingOn == "" {
		return ""
	}
	return " on " + w.WaitingOn
}

// waitsFor is who owns a workflow's next move.
func waitsFor(w store.Workflow) string {
	switch w.WaitingOn {
	case "task":
		return semconv.LayerNodeAgent
	case "provider":
		return semconv.LayerProvider
	case "capacity":
		return ownerOperator
	}
	return semconv.LayerWorkflow
}

func (s search) workflows() error {
	all, err := s.t.SlowWorkflows(s.before, longest)
	for _, w := range all {
		if err := s.add(Item{Kind: "workflow", ID: w.ID, AllocationID: w.AllocationID, State: w.State, Since: w.MovedAt, Why: w.Operation + on(w), Owner: waitsFor(w)},
			len(all), Allocations, w.AllocationID); err != nil {
			return err
		}
	}
	return err
}

func (s search) tasks() error {
	all, err := s.t.SlowTasks(s.before, longest)
	for _, k := range all {
		why := k.Type + ", claimed by " + k.Claim.InstanceID + " until " + k.Claim.LeaseUntil.UTC().Format(stamp)
		if k.State == semconv.Queued {
			why = k.Type + ", not claimed; expires at " + k.ExpiresAt.UTC().Format(stamp)
		}
		if err := s.add(Item{Kind: "task", ID: k.ID, AllocationID: k.AllocationID, NodeID: k.NodeID, State: k.State, Since: k.CreatedAt, Why: why, Owner: semconv.LayerNodeAgent},
			len(all), Nodes, k.NodeID); err != nil {
			return err
		}
	}
	return err
}

func (s search) providerJobs() error {
	all, err := s.t.FailingProviderJobs(longest)
	for _, j := range all {
		if err := s.add(Item{Kind: "provider_job", ID: j.Key, AllocationID: j.AllocationID, State: j.Phase, Since: j.CreatedAt, Why: j.Failure, Owner: semconv.LayerProvider},
			len(all), Allocations, j.AllocationID); err != nil {
			return err
		}
	}
	return err
}

func (s search) messages() error {
	all, err := s.t.UnsentMessages(s.before, longest)
	for _, m := range all {
		owner := semconv.LayerOutbox
		if m.State == semconv.Dead { // the relay has given up
			owner = ownerOperator
		}
		why := m.Subject
		if m.LastError != "" {
			why += ": " + m.LastError
		}
		if err := s.add(Item{Kind: "message", ID: m.ID, AllocationID: m.AllocationID, State: m.State, Since: m.CreatedAt, Why: why, Owner: owner},
			len(all), Messages, m.ID); err != nil {
			return err
		}
	}
	return err
}

func (s search) nodes() error {
	all, err := s.t.UnusableNodes(longest)
	if err != nil {
		return err
	}
	for _, n := range all {
		i := Item{Kind: "node", ID: n.ID, AllocationID: n.AllocationID, NodeID: n.ID, State: n.Occupancy, Since: n.CreatedAt, Owner: ownerOperator}
		if n.AllocationID != "" {
			a, err := s.t.Allocation(n.AllocationID)
			if err != nil {
				return err
			}
			if n.Occupancy == lifecycle.Cleanup && !lifecycle.Settled(a.State) {
				continue // a release is at work on it; where that takes too long, the allocation is listed
			}
			i.Why, i.Since = "held by "+a.ID+", which is "+a.State, a.Since
		}
		if n.Occupancy == lifecycle.Fenced {
			at, reason, err := s.t.FencedSince(n.ID)
			if err != nil {
				return err
			}
			if !at.IsZero() {
				i.Since, i.Why = at, strings.TrimSuffix(reason+"; "+i.Why, "; ")
			}
		}
		if err := s.add(i, len(all), Nodes, n.ID); err != nil {
			return err
		}
	}
	return nil
}

func (s search) projections() error {
	all, err := s.t.FailingProjections(longest)
	for _, p := range all {
		state := p.Shown
		if state == "" {
			state = "never written"
		}
		if err := s.add(Item{Kind: "projection", ID: p.Name + "/" + p.AllocationID, AllocationID: p.AllocationID, State: state, Since: p.FailingSince, Why: p.Failure, Owner: semconv.LayerProjection},
			len(all), Allocations, p.AllocationID); err != nil {
			return err
		}
	}
	return err
}
