package correlator

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/profile"
)

// Stuck is a step that is owed for longer than it should be, and by whom.
type Stuck struct {
	What     string        `json:"what"`       // for people: "task t-3 (wipe) is queued and not claimed"
	Owes     string        `json:"owes"`       // the layer that owes the next move, "" where nobody can tell
	Owner    profile.Owner `json:"owner"`      // of that layer
	Since    Time          `json:"owed_since"` // when the step began
	Deadline Time          `json:"deadline"`   // when it should have been done
	// SeenAt is the newest sign of life of that layer after the deadline; null where there is none, and
	// then nobody can tell whether it is late or silent.
	SeenAt   *Time    `json:"seen_at"`
	Evidence []string `json:"evidence"`
}

// stuck is the deepest step that is overdue, nil where none is.
func (c *Case) stuck() *Stuck {
	late := overdueTroubles(c)
	if len(late) == 0 {
		return nil
	}
	t := late[0]
	s := &Stuck{What: t.What, Owes: t.Owes, Owner: c.Profile.Owners[t.Owes], Since: Time(t.From), Deadline: Time(t.At), Evidence: refs(t.Cites)}
	if t.Owes == "" {
		return s
	}
	if e := c.AliveBetween(t.Owes, t.At+1, c.Now); e != nil {
		at := Time(e.At)
		s.SeenAt = &at
	}
	return s
}

// StuckList answers "what is stuck, and whose move is it".
type StuckList struct {
	AsOf        Time              `json:"as_of"`
	Examined    int               `json:"examined"` // allocations that were looked at
	Allocations []StuckAllocation `json:"allocations"`
	Orphans     []Orphan          `json:"orphans"`
}

// StuckAllocation is one line of that list.
type StuckAllocation struct {
	ID    string  `json:"allocation_id"`
	State *string `json:"state"`
	Since *Time   `json:"since"`
	Stuck
	OverdueSeconds int64 `json:"overdue_seconds"` // at the list's as_of
	// Layer is whose trouble it is: the layer of the verdict's strongest open fault, else the one that
	// owes the next move. Cause is that fault as layer.mechanism, "" where nothing is attributed.
	Layer      string        `json:"layer"`
	LayerOwner profile.Owner `json:"layer_owner"`
	Cause      string        `json:"cause"`
	Outcome    string        `json:"outcome"`
}

// ListStuck lists what is stuck at a time, by owner, the longest overdue first. Standings may come in any
// order.
func ListStuck(standings []Standing, now int64) StuckList {
	list := StuckList{AsOf: Time(now), Examined: len(standings), Allocations: []StuckAllocation{}, Orphans: []Orphan{}}
	for _, s := range standings {
		list.Orphans = append(list.Orphans, s.Orphans...)
		if s.Stuck == nil {
			continue
		}
		one := StuckAllocation{
			ID: s.ID, State: s.State, Since: s.Since, Stuck: *s.Stuck, OverdueSeconds: (now - int64(s.Stuck.Deadline)) / int64(time.Second),
			Layer: s.Stuck.Owes, LayerOwner: s.Stuck.Owner, Outcome: s.Verdict.Outcome,
		}
		for _, f := range s.Verdict.Faults {
			if f.ClearedAt == nil && s.Verdict.Outcome == Attributed {
				one.Layer, one.LayerOwner, one.Cause = f.Layer, f.Owner, f.Layer+"."+f.Mechanism
				break
			}
		}
		list.Allocations = append(list.Allocations, one)
	}
	slices.SortFunc(list.Orphans, func(a, b Orphan) int {
		return cmp.Or(strings.Compare(a.AllocationID, b.AllocationID), strings.Compare(a.ResourceUID, b.ResourceUID))
	})
	slices.SortFunc(list.Allocations, func(a, b StuckAllocation) int {
		return cmp.Or(strings.Compare(a.Layer, b.Layer), cmp.Compare(b.OverdueSeconds, a.OverdueSeconds), strings.Compare(a.ID, b.ID))
	})
	return list
}

// DriftList answers "which views show something else than the truth".
type DriftList struct {
	AsOf     Time              `json:"as_of"`
	Examined int               `json:"examined"` // allocations that were looked at
	Drift    []DriftAllocation `json:"drift"`
}

// DriftAllocation is one view of one allocation.
type DriftAllocation struct {
	ID    string  `json:"allocation_id"`
	State *string `json:"state"`
	Drift
	Outcome string `json:"outcome"`
}

// ListDrift lists what views show wrong, the oldest first.
func ListDrift(standings []Standing, now int64) DriftList {
	list := DriftList{AsOf: Time(now), Examined: len(standings), Drift: []DriftAllocation{}}
	for _, s := range standings {
		for _, d := range s.Verdict.Drift {
			list.Drift = append(list.Drift, DriftAllocation{s.ID, s.State, d, s.Verdict.Outcome})
		}
	}
	slices.SortFunc(list.Drift, func(a, b DriftAllocation) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), strings.Compare(a.ID, b.ID), strings.Compare(a.Projection+"\x00"+a.Field, b.Projection+"\x00"+b.Field))
	})
	return list
}
