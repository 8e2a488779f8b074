package query

import (
	"context"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
)

// Head is when an allocation was heard of, and its last state.
type Head struct {
	ID          string
	State       *string
	Since       *correlator.Time
	First, Last correlator.Time // the earliest and the newest time that its records state
	Taken       int64           // when the store took the newest of them, by its own clock, in Unix seconds
}

// Label is what is said of an allocation as a whole.
type Label struct {
	Allocation, Name, Value string
	First                   int64 // the earliest time at which it was said
}

// Names of labels.
const (
	LabelTenant   = "tenant" // whose it is: the first word counts
	LabelProvider = "provider"
)

// Said is a revision as it was kept.
type Said struct {
	correlator.Revision
	Replica  string // who said it
	Ingested int64  // when, by the clock of who said it
	// Quiet is set where there is nothing to tell: then Revision has the allocation, the time and the outcome alone.
	Quiet bool
}

// Overview answers from memory what is asked most often. ok is false where it does not know, and the store does.
type Overview interface {
	// List gives allocations and the identifier after which the next page begins, "" where there is none.
	List(q ListQuery) (found []Listed, next string, ok bool)
	// Assessments are as Kept's of now.
	Assessments() (list []correlator.Assessment, examined int, ok bool)
	// Holds says whether what was kept of an allocation holds, and until when: all that had arrived by then was judged.
	Holds(allocation string) (until correlator.Time, ok bool)
	// Last gives the last revision of an allocation, where it holds and its verdict is here as it was said.
	Last(allocation string) (r correlator.Revision, ok bool)
	// Tag names what is known of an allocation: it is another when anything of it arrived, or was said. ok is false where more
	// may arrive under the same name.
	Tag(allocation string) (tag string, ok bool)
	// Head gives where an allocation stands.
	Head(allocation string) (h Head, ok bool)
	// Tenant gives whose an allocation is, "" for nobody's, and for one of which nothing is known where all are known: that an
	// allocation is another's takes no longer to say than that there is none.
	Tenant(allocation string) (tenant string, ok bool)
}

// Labels gives what is said of allocations as a whole.
type Labels interface {
	// LabelsOf gives those of one allocation, the first word of each kind first.
	LabelsOf(ctx context.Context, allocation string) ([]Label, error)
}

// Supplements keep what judging leaves behind, so that an allocation is shown without judging it anew.
type Supplements interface {
	// Supplement gives the latest of an allocation, by the rules that judge now; ok is false where there is none.
	Supplement(ctx context.Context, allocation string) (s correlator.Supplement, ok bool, err error)
	// WriteSupplements keeps some. One that is written twice counts once.
	WriteSupplements(ctx context.Context, list []correlator.Supplement) error
	// Stamped gives the records that were stamped with an allocation when they were written. Where they lie in time follows from head; the
	// store is asked for it where its ID is empty.
	Stamped(ctx context.Context, allocation string, head Head) ([]*record.Record, error)
	// Placed gives single records by where they lie.
	Placed(ctx context.Context, places []correlator.Placed) ([]*record.Record, error)
}
