package live

import (
	"context"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// Sources are what the service works on; a store is all of them.
type Sources struct {
	Reader     query.Reader
	History    VerdictHistory
	Feed       Feed
	Membership Membership
	Backlog    Backlog
	Durations  DurationStore // nil: the profile's budgets alone say what is late
	// Supplements may be nil: then nothing is kept but revisions.
	Supplements query.Supplements
	// Written is called after something was written; it may be nil.
	Written func()
	// StartTimes may be nil: then the record set is read of each allocation that nobody is heard to request.
	StartTimes StartTimes
}

// VerdictHistory keeps the assessments of allocations, each time that they change.
type VerdictHistory interface {
	// Write appends revisions. One that is written twice counts once.
	Write(ctx context.Context, revisions []correlator.Revision) error
	// Last gives the newest revision of each of these allocations, by id.
	Last(ctx context.Context, allocations []string) (map[string]correlator.Revision, error)
}

// DurationStore keeps what steps took, across allocations and restarts.
type DurationStore interface {
	// AddDurations keeps completed steps. One that is added twice counts once.
	AddDurations(ctx context.Context, steps []correlator.CompletedStep) error
	// Durations gives what steps took lately, by what had ended at a time; 0 is now.
	Durations(ctx context.Context, asOf int64) (correlator.Durations, error)
}

// Backlog lists what a replica has to judge when it begins, or when its share grows, though nothing of it arrives.
type Backlog interface {
	// Backlog gives at most so many allocations that go on by their last state, or of which anything was taken since a
	// time of arrival, whatever became of them; the most recently heard of first. since 0 gives those alone that go on.
	Backlog(ctx context.Context, since int64, most int) ([]string, error)
}
