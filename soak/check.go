package soak

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
)

// Findings are what is wrong, by kind: at most a few of each, and how many there are.
type Findings struct {
	Count map[string]int
	Some  []string
}

// fewOfEach is the number of findings of one kind that are described.
const fewOfEach = 5

func (f *Findings) add(kind, format string, args ...any) {
	if f.Count == nil {
		f.Count = map[string]int{}
	}
	if f.Count[kind]++; f.Count[kind] <= fewOfEach {
		f.Some = append(f.Some, kind+": "+fmt.Sprintf(format, args...))
	}
}

// None says whether all is well.
func (f *Findings) None() bool { return len(f.Count) == 0 }

// Kinds of findings.
const (
	IllegalMove    = "illegal move"
	MissingEvent   = "missing event"   // the database has moved, and nothing told so
	DoubleLaunch   = "double launch"   // of a workflow, a task, a claim, a provider's job
	LostMessage    = "lost message"    // written to the outbox and never published
	Unreasoned     = "unreasoned"      // a node that is kept out of use, and nobody said why
	NotOver        = "not over"        // an allocation that did not come to its end
	DoubleOccupant = "double occupant" // two allocations on one node
)

// Check compares the database with what has arrived, when nothing is under way any more.
func Check(ctx context.Context, s *store.Store, r *Receiver) (f Findings, err error) {
	events, _ := r.Events()
	by := map[string]map[string][]Event{} // name → subject → events
	for _, e := range events {
		if by[e.Name] == nil {
			by[e.Name] = map[string][]Event{}
		}
		by[e.Name][e.Subject] = append(by[e.Name][e.Subject], e)
	}
	for _, subjects := range by {
		for _, chain := range subjects {
			slices.SortStableFunc(chain, func(a, b Event) int { return a.Time.Compare(b.Time) })
		}
	}
	var allocations []store.Allocation
	var nodes []store.Node
	var waiting int
	var fences []store.Audit
	if err := s.View(ctx, "check", func(t *store.Tx) (err error) {
		if fences, err = t.AuditLog(store.AuditFilter{Action: "fence", Outcome: store.Done, Limit: 1 << 20}); err != nil {
			return err
		}
		if allocations, err = t.Allocations(store.Filter{Limit: 1 << 20}); err != nil {
			return err
		}
		if nodes, err = t.Nodes(); err != nil {
			return err
		}
		waiting, _, err = t.OutboxBacklog()
		return err
	}); err != nil {
		return f, err
	}
	f.allocations(allocations, by[semconv.EventAllocationState])
	f.nodes(nodes, by[semconv.EventNodeOccupancy])
	f.fences(fences, by[semconv.EventNodeOccupancy])
	f.messages(waiting, by[semconv.EventOutbox])
	f.workflows(by[semconv.EventWorkflowState], by[semconv.EventAllocationState])
	f.tasks(by[semconv.EventTaskState])
	return f, nil
}

func (f *Findings) allocations(all []store.Allocation, told map[string][]Event) {
	legal := map[[2]string]bool{}
	for _, m := range lifecycle.AllocationMoves() {
		legal[[2]string{m.From, m.To}] = true
	}
	for _, a := range all {
		chain := told[a.ID]
		if int64(len(chain)) != a.Version {
			f.add(MissingEvent, "allocation %s is in version %d, and %d moves were told", a.ID, a.Version, len(chain))
		}
		state := ""
		for _, e := range chain {
			switch {
			case e.From != state:
				f.add(MissingEvent, "allocation %s was %q, then moved from %q to %s", a.ID, state, e.From, e.To)
			case !legal[[2]string{e.From, e.To}]:
				f.add(IllegalMove, "allocation %s from %q to %s", a.ID, e.From, e.To)
			}
			state = e.To
		}
		if state != a.State {
			f.add(MissingEvent, "allocation %s is %s, and was told to be %q", a.ID, a.State, state)
		}
		if !lifecycle.Settled(a.State) || a.State == semconv.Active {
			f.add(NotOver, "allocation %s is %s: %s", a.ID, a.State, a.Reason)
		}
	}
}

func (f *Findings) nodes(all []store.Node, told map[string][]Event) {
	legal := map[[2]string]bool{}
	for _, m := range lifecycle.NodeMoves() {
		legal[[2]string{m.From, m.To}] = true
	}
	tenants := map[string]string{}
	for _, n := range all {
		chain, state, tenant := told[n.ID], lifecycle.Free, ""
		for _, e := range chain {
			switch {
			case e.From != state:
				f.add(MissingEvent, "node %s was %s, then moved from %s to %s", n.ID, state, e.From, e.To)
			case !legal[[2]string{e.From, e.To}]:
				f.add(IllegalMove, "node %s from %s to %s", n.ID, e.From, e.To)
			case e.From != lifecycle.Free && tenant != "" && e.Allocation != tenant:
				f.add(DoubleOccupant, "node %s of %s was moved for %s", n.ID, tenant, e.Allocation)
			}
			state, tenant = e.To, e.Allocation
			if (e.To == lifecycle.Cleanup || e.To == lifecycle.Fenced) && e.Reason == "" {
				f.add(Unreasoned, "node %s became %s", n.ID, e.To)
			}
		}
		if state != n.Occupancy {
			f.add(MissingEvent, "node %s is %s, and was told to be %s", n.ID, n.Occupancy, state)
		}
		if n.Occupancy != lifecycle.Free && n.Occupancy != lifecycle.Fenced && n.AllocationID == "" {
			f.add(Unreasoned, "node %s is %s of nobody", n.ID, n.Occupancy)
		}
		if n.AllocationID != "" {
			if other := tenants[n.AllocationID]; other != "" {
				f.add(DoubleOccupant, "allocation %s has nodes %s and %s", n.AllocationID, other, n.ID)
			}
			tenants[n.AllocationID] = n.ID
		}
	}
}

// fences: each is an operator's, whose name, reason and node stand in the audit log, and each row of the log has
// fenced once. No two have one reason.
func (f *Findings) fences(rows []store.Audit, told map[string][]Event) {
	why := map[[2]string]int{}
	for node, chain := range told {
		for _, e := range chain {
			if e.To == lifecycle.Fenced {
				why[[2]string{node, e.Reason}]++
			}
		}
	}
	for _, r := range rows {
		key := [2]string{r.NodeID, r.Reason}
		if why[key] != 1 || r.Actor == "" || r.Reason == "" {
			f.add(Unreasoned, "%s fenced node %s for %q, and that was told %d times", r.Actor, r.NodeID, r.Reason, why[key])
		}
		delete(why, key)
	}
	for key, n := range why {
		f.add(Unreasoned, "node %s was fenced %d times for %q, and nobody is on record for it", key[0], n, key[1])
	}
}

func (f *Findings) messages(waiting int, told map[string][]Event) {
	if waiting > 0 {
		f.add(LostMessage, "%d wait", waiting)
	}
	for id, chain := range told {
		last, first := chain[len(chain)-1], chain[0]
		if first.To != semconv.Pending {
			f.add(MissingEvent, "message %s began as %s", id, first.To)
		}
		if last.To != semconv.Published {
			f.add(LostMessage, "%s of %s is %s", id, last.Allocation, last.To)
		}
	}
}

// workflows: each operation of an allocation runs once; a release, once for each time that it was begun.
func (f *Findings) workflows(told, allocations map[string][]Event) {
	runs := map[string]int{}
	for id, chain := range told {
		first := chain[0]
		key, most := first.Allocation+" "+first.Kind, 1
		if first.Kind == lifecycle.OperationRelease {
			most = restarts(allocations[first.Allocation])
		}
		if runs[key]++; runs[key] > most {
			f.add(DoubleLaunch, "%s: %s is workflow %d of %d", key, id, runs[key], most)
		}
		if last := chain[len(chain)-1]; lifecycle.WorkflowOpen(last.To) {
			f.add(NotOver, "workflow %s of %s is %s", id, last.Allocation, last.To)
		}
	}
}

// tasks: no claim is given out twice, and no step has two tasks of which the first one did not fail.
func (f *Findings) tasks(told map[string][]Event) {
	last := map[string]string{}
	ids := make([]string, 0, len(told))
	for id := range told {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(told[a][0].Attempt, told[b][0].Attempt) })
	for _, id := range ids {
		chain := told[id]
		fences := map[int64]int{}
		applied := 0
		for _, e := range chain {
			if e.To == semconv.Dispatched {
				fences[e.Fence]++
			}
			if e.To == semconv.Succeeded || e.To == semconv.Failed {
				applied++
			}
		}
		for fence, n := range fences {
			if n > 1 {
				f.add(DoubleLaunch, "task %s was claimed %d times under fence %d", id, n, fence)
			}
		}
		if applied > 1 {
			f.add(DoubleLaunch, "task %s has %d results", id, applied)
		}
		step, end := chain[0].Workflow+" "+chain[0].Kind, chain[len(chain)-1].To
		if before, again := last[step]; again && before != semconv.Failed && before != semconv.Expired {
			f.add(DoubleLaunch, "%s was tried again after %s", step, before)
		}
		last[step] = end
	}
}
