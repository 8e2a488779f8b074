package correlator

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// DeskOptions bound a desk.
type DeskOptions struct {
	// Own bounds the records of one allocation: beyond it, only lifecycle events and failures are kept, and
	// beyond twice as many nothing.
	Own int
	// Total bounds the records of all; whoever was not heard of for longest leaves the desk.
	Total int
	// Unclaimed bounds the records that belong to nobody yet, Context those that may be cited by anyone,
	// Lines what is kept of one machine's own words.
	Unclaimed, Context, Lines int
	// Subjects bounds the identities that are remembered.
	Subjects int
	// Mine says whether an allocation is this desk's to judge; nil: all are. Records of others teach who
	// belongs to whom and are not kept.
	Mine func(allocation string) bool
}

// DefaultDeskOptions are about 1 GB at their bounds.
func DefaultDeskOptions() DeskOptions {
	return DeskOptions{Own: 10_000, Total: 500_000, Unclaimed: 20_000, Context: 2_000, Lines: 40, Subjects: 1_000_000}
}

func without(list []*Event, e *Event) []*Event {
	if i := slices.Index(list, e); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// bound lets go of what lies beyond the desk's bounds.
func (d *Desk) bound() {
	if over := len(d.unclaimed) - d.opt.Unclaimed; over > 0 {
		for _, e := range d.unclaimed[:over] {
			delete(d.events, e.Key)
		}
		d.unclaimed = slices.Delete(d.unclaimed, 0, over)
	}
	if len(d.context) > d.opt.Context {
		slices.SortFunc(d.context, compareEvents)
		d.context = slices.Delete(d.context, 0, len(d.context)-d.opt.Context*3/4)
		oldest := d.context[0].At / int64(time.Minute)
		for b := range d.beats {
			if b.minute < oldest {
				delete(d.beats, b)
			}
		}
	}
	for node, list := range d.lines {
		switch {
		case len(list) == 0, list[len(list)-1].At < d.now-2*deskMargin:
			delete(d.lines, node)
		case len(list) > d.opt.Lines:
			d.lines[node] = slices.Clone(list[len(list)-d.opt.Lines/2:])
		}
	}
	if len(d.events) <= d.opt.Total {
		return
	}
	ids := make([]string, 0, len(d.folders))
	for id := range d.folders {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(d.folders[a].heard, d.folders[b].heard) })
	for _, id := range ids {
		if len(d.events) <= d.opt.Total*9/10 {
			return
		}
		d.Drop(id)
	}
}

// Drop lets go of an allocation.
func (d *Desk) Drop(allocation string) {
	f := d.folders[allocation]
	if f == nil {
		return
	}
	for _, e := range f.events {
		delete(d.events, e.Key)
		if home := d.homes[strings.ToLower(e.Node)]; home != nil {
			if delete(home, allocation); len(home) == 0 {
				delete(d.homes, strings.ToLower(e.Node))
			}
		}
	}
	delete(d.folders, allocation)
	delete(d.touched, allocation)
}

// Size counts what lies on the desk.
func (d *Desk) Size() (allocations, records int) { return len(d.folders), len(d.events) }
