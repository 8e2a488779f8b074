package correlator

import (
	"context"
	"errors"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// ErrUnknown says that nothing is known of an identifier.
var ErrUnknown = errors.New("nothing is known of this identifier")

// Library is where records are kept: a store, or what was read from files.
type Library interface {
	// Resolve gives the allocations that an identifier of any kind leads to, the most recently heard of
	// first: the allocation itself, the one of a task or trace, every one that a machine served. Empty
	// where there is none.
	Resolve(ctx context.Context, id string) ([]string, error)
	// Story gives all that concerns one allocation: its records, those of its machines meanwhile, what
	// may be cited, and the facts that say whose they are. It may give more than that; Gather decides.
	Story(ctx context.Context, allocation string, asOf int64) (*Story, error)
	// List gives allocations with their last state, the most recently heard of first.
	List(ctx context.Context, q ListQuery) ([]Listed, error)
}

// Story is the raw material of one case.
type Story struct {
	Records []*record.Record
	Facts   []identity.Fact
	// Now is the newest time that the library knows of.
	Now int64
	// Durations are what steps took lately; nil where the library doesn't know.
	Durations Durations
}

// ListQuery narrows a list; zero values do not.
type ListQuery struct {
	State string
	Limit int
}

// Listed is one allocation in a list.
type Listed struct {
	ID       string  `json:"allocation_id"`
	State    *string `json:"state"`
	Since    *Time   `json:"since"`
	LastSeen Time    `json:"last_seen"`
}

// Judgement joins and judges one allocation. asOf 0 is now. ErrUnknown where there is no record of it.
func Judgement(ctx context.Context, l Library, p *profile.Profile, rules []Rule, allocation string, asOf int64) (Allocation, error) {
	c, err := gathered(ctx, l, p, allocation, asOf)
	if err != nil {
		return Allocation{}, err
	}
	s := c.standing(Judge(c, rules))
	if err := inCompany(ctx, l, &s, p, asOf); err != nil {
		return Allocation{}, err
	}
	return c.told(s.Verdict), nil
}
