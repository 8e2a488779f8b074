package overview

import (
	"context"
	"time"

	"github.com/faultline-io/faultline/correlator/query"
)

// Source is what an overview follows; correlator/clickhouse is one. Times since which something is asked are by the store's
// clock, Unix nanoseconds; 0 asks for all.
type Source interface {
	// Heads gives the allocations of which anything was taken since a time, at most so many, the most recently heard of first.
	Heads(ctx context.Context, since int64, most int) ([]query.Head, error)
	// LabelsSince gives the labels that were told since a time, the first word of each kind first.
	LabelsSince(ctx context.Context, since int64) ([]query.Label, error)
	// LastSaid gives the last word on every allocation, at most so many.
	LastSaid(ctx context.Context, most int) ([]query.Said, error)
	// SaidSince gives what was said since a time, at most so much, by when it was said.
	SaidSince(ctx context.Context, since int64, most int) ([]query.Said, error)
	// SaidMarks gives when what was said since a time was said, without the words.
	SaidMarks(ctx context.Context, since int64) ([]Mark, error)
	// Judged is up to which time of arrival everything was judged by those who were heard of lately; 0 where nobody was.
	Judged(ctx context.Context, within time.Duration) (int64, error)
	// Now is the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Mark is when a word was said.
type Mark struct {
	Allocation         string
	JudgedAt, Ingested int64
}
