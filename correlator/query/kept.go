package query

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
)

// List gives the allocations that are asked for, and the identifier after which the next page begins, "" where there is none.
func (s *Service) List(ctx context.Context, q ListQuery) (found []Listed, next string, err error) {
	q.Scope = ScopeOf(ctx)
	if s.Overview != nil {
		if found, next, ok := s.Overview.List(q); ok {
			return found, next, nil
		}
	}
	return s.listStored(ctx, q)
}

// Said gives the verdict on an allocation as it was kept, or judges it. judgedAt is when it was judged, 0 for now.
func (s *Service) Said(ctx context.Context, allocation string, asOf int64) (a correlator.Allocation, judgedAt correlator.Time, err error) {
	if err := s.admit(ctx, allocation); err != nil {
		return a, 0, err
	}
	if asOf == 0 && s.Overview != nil {
		if r, ok := s.Overview.Last(allocation); ok {
			return correlator.Allocation{ID: allocation, State: r.Assessment.State, Since: r.Assessment.Since, Verdict: r.Assessment.Verdict}, r.JudgedAt, nil
		}
	}
	if asOf == 0 {
		if kept, ok, err := s.supplement(ctx, allocation); ok || err != nil {
			return correlator.Allocation{ID: allocation, State: kept.State, Since: kept.Since, Verdict: kept.Verdict}, kept.JudgedAt, err
		}
	}
	a, err = s.Verdict(ctx, allocation, asOf)
	return a, 0, err
}

// supplement gives what was kept of an allocation, where that holds still.
func (s *Service) supplement(ctx context.Context, allocation string) (kept correlator.Supplement, ok bool, err error) {
	if s.Overview == nil || s.Supplements == nil {
		return kept, false, nil
	}
	until, holds := s.Overview.Holds(allocation)
	if !holds {
		return kept, false, nil
	}
	kept, ok, err = s.Supplements.Supplement(ctx, allocation)
	kept.Verdict.AsOf = max(kept.Verdict.AsOf, until)
	return kept, ok, err
}

// kept gives what judging left behind of an allocation, and the rows of its timeline. ok is false where that does not hold
// any more, or nothing was kept: then it has to be judged.
func (s *Service) kept(ctx context.Context, allocation string) (kept correlator.Supplement, rows []*record.Record, ok bool, err error) {
	if s.Overview == nil || s.Supplements == nil {
		return kept, nil, false, nil
	}
	var own, elsewhere []*record.Record
	if _, holds := s.Overview.Holds(allocation); !holds {
		return kept, nil, false, nil
	}
	head, _ := s.Overview.Head(allocation)
	asked, ctx := errgroup.WithContext(ctx)
	asked.Go(func() (err error) {
		if kept, ok, err = s.supplement(ctx, allocation); err != nil || !ok {
			return err
		}
		if places := kept.Elsewhere(); len(places) > 0 {
			elsewhere, err = s.Supplements.Placed(ctx, places)
		}
		return err
	})
	asked.Go(func() (err error) {
		own, err = s.Supplements.Stamped(ctx, allocation, head)
		return err
	})
	if err := asked.Wait(); err != nil || !ok {
		return kept, nil, false, err
	}
	return kept, slices.Concat(own, elsewhere), true, nil
}
