package incident

import (
	"context"
	"iter"
	"slices"

	"github.com/faultline-io/faultline/correlator"
)

// RelatedFault is a fault of another allocation.
type RelatedFault struct {
	Allocation string
	Occurrence correlator.FaultOccurrence
}

// Cause says which faults are related to one: those of its layer and mechanism that began in [From, To], Unix nanoseconds.
type Cause struct {
	Layer, Mechanism string
	From, To         int64
}

// RelatedFaults knows the faults of other allocations.
type RelatedFaults interface {
	// RelatedFaults gives the faults of one cause of all allocations, by what was known at asOf, 0 for now; a few dozen
	// at most.
	RelatedFaults(ctx context.Context, c Cause, asOf int64) (iter.Seq[*RelatedFault], error)
}

// FaultIndex holds the faults of a set of assessments.
type FaultIndex struct {
	by   map[[2]string][]RelatedFault // by layer and mechanism
	keys map[string][][2]string       // those of each allocation
}

// NewFaultIndex is empty.
func NewFaultIndex() *FaultIndex {
	return &FaultIndex{map[[2]string][]RelatedFault{}, map[string][][2]string{}}
}

// Add takes the faults of an assessment that was made alone; what was added of the same allocation before goes.
func (x *FaultIndex) Add(a *correlator.Assessment) {
	x.Drop(a.ID)
	for _, o := range a.Occurrences {
		k := [2]string{o.Layer, o.Mechanism}
		x.by[k], x.keys[a.ID] = append(x.by[k], RelatedFault{a.ID, o}), append(x.keys[a.ID], k)
	}
}

// Drop forgets an allocation.
func (x *FaultIndex) Drop(allocation string) {
	for _, k := range x.keys[allocation] {
		if x.by[k] = slices.DeleteFunc(x.by[k], func(f RelatedFault) bool { return f.Allocation == allocation }); len(x.by[k]) == 0 {
			delete(x.by, k)
		}
	}
	delete(x.keys, allocation)
}

// Of gives the faults of one cause.
func (x *FaultIndex) Of(c Cause) iter.Seq[*RelatedFault] {
	list := x.by[[2]string{c.Layer, c.Mechanism}]
	return func(yield func(*RelatedFault) bool) {
		for i := range list {
			if on := int64(list[i].Occurrence.Onset); on >= c.From && on <= c.To && !yield(&list[i]) {
				return
			}
		}
	}
}
