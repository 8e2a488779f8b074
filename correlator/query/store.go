package query

import (
	"context"
	"errors"
	"iter"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// ErrUnknown says that nothing is known of an identifier.
var ErrUnknown = errors.New("nothing is known of this identifier")

// Reader gives what one allocation is judged from.
type Reader interface {
	// Resolve gives the allocations that an identifier of any kind leads to, the most recently heard of
	// first: the allocation itself, the one of a task or trace, every one that a node served. Empty
	// where there is none.
	Resolve(ctx context.Context, id string) ([]string, error)
	// RecordSet gives all that concerns one allocation: its records, those of its nodes meanwhile, what
	// may be cited, and the links that say whose they are. It may give more than that; the dataset decides.
	RecordSet(ctx context.Context, allocation string, asOf int64) (*RecordSet, error)
	// List gives allocations with their last state, the most recently heard of first.
	List(ctx context.Context, q ListQuery) ([]Listed, error)
}

// Events gives records one by one.
type Events interface {
	// Mark is the ingested time that separates what is there from what comes later: every record that
	// can be read now was ingested at or before it.
	Mark(ctx context.Context) (int64, error)
	// Events streams the records of a selection that lie after a position, in the order of Position, in
	// memory that does not grow with their number. Copies of one record are one event, settled as
	// record.Merge does, at the place of the one that wins. An error ends the stream, but for ErrBounded,
	// which comes once, before the events that can be read all the same.
	Events(ctx context.Context, s Selection, after Position) iter.Seq2[*correlator.Event, error]
	// Search streams the records that a query looks for, the newest first, that lie before a position in
	// the order of Position. What it resolves to is what was stamped when the record was written. Copies
	// at one position are one event. A *TooMuch ends a search that would read more than it may.
	Search(ctx context.Context, q Query, before Position) iter.Seq2[*correlator.Event, error]
}

// Kept gives what judging has kept.
type Kept interface {
	// Assessments gives the last assessment of every allocation with something to tell (a verdict other than none,
	// drift, something stuck, an orphan) as of a time, 0 for now; examined counts all that were ever assessed.
	Assessments(ctx context.Context, asOf int64) (list []correlator.Assessment, examined int, err error)
	// History gives the revisions of one allocation, oldest first; the newest ones where there are more than
	// most. Empty where there is none.
	History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error)
	incident.RelatedFaults
}

// Store is where records and verdicts are kept. An ability that it lacks is answered with errors.ErrUnsupported: see
// Unsupported.
type Store interface {
	Reader
	Events
	Kept
}

// RecordSet is the raw material of one case.
type RecordSet struct {
	Records []*record.Record
	Links   []identity.Link
	// Now is the newest time that the reader knows of.
	Now int64
	// Durations are what steps took lately; nil where the reader doesn't know.
	Durations correlator.Durations
}

// Unsupported answers everything but Reader's questions with errors.ErrUnsupported. A store embeds it and implements
// what it can.
type Unsupported struct{}

// Mark implements Events.
func (Unsupported) Mark(context.Context) (int64, error) { return 0, errors.ErrUnsupported }

// Events implements Events.
func (Unsupported) Events(context.Context, Selection, Position) iter.Seq2[*correlator.Event, error] {
	return unsupported
}

// Search implements Events.
func (Unsupported) Search(context.Context, Query, Position) iter.Seq2[*correlator.Event, error] {
	return unsupported
}

func unsupported(yield func(*correlator.Event, error) bool) { yield(nil, errors.ErrUnsupported) }

// Assessments implements Kept.
func (Unsupported) Assessments(context.Context, int64) ([]correlator.Assessment, int, error) {
	return nil, 0, errors.ErrUnsupported
}

// History implements Kept.
func (Unsupported) History(context.Context, string, int) ([]correlator.Revision, error) {
	return nil, errors.ErrUnsupported
}

// RelatedFaults implements Kept.
func (Unsupported) RelatedFaults(context.Context, incident.Cause, int64) (iter.Seq[*incident.RelatedFault], error) {
	return nil, errors.ErrUnsupported
}
