package query

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/profile"
)

// Service answers questions out of a store, by one profile and one list of rules.
type Service struct {
	Store   Store
	Profile *profile.Profile
	Rules   []correlator.Rule
	// Overview and Supplements answer what was judged already; without them everything is read and judged anew.
	Overview    Overview
	Supplements Supplements
	Facts       Facts     // nil: nothing is known but of allocations
	Labels      Labels    // nil: every allocation is nobody's
	Standings   Standings // nil: a list that memory does not have tells of no provider, and of no verdict that is none
	Streams     Streams   // nil: nobody tells of changes
	Lines       Lines     // nil: no raw lines are kept
}

// Resolve gives the allocations that an identifier leads to, the most recently heard of first. ErrUnknown where there is
// none.
func (s *Service) Resolve(ctx context.Context, id string) ([]string, error) {
	found, err := s.Store.Resolve(ctx, id)
	if err == nil {
		found, err = s.only(ctx, found)
	}
	if err == nil && len(found) == 0 {
		err = ErrUnknown
	}
	return found, err
}

// Verdict joins and judges one allocation. asOf 0 is now. ErrUnknown where there is no record of it.
func (s *Service) Verdict(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, error) {
	if err := s.admit(ctx, allocation); err != nil {
		return correlator.Allocation{}, err
	}
	a, err := s.whole(ctx, allocation, asOf)
	if err != nil {
		return a, err
	}
	return s.hideOthers(ctx, a)
}

// whole gives an allocation out of what was kept, or judges it.
func (s *Service) whole(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, error) {
	if asOf == 0 {
		kept, rows, ok, err := s.kept(ctx, allocation)
		switch {
		case err != nil:
			return correlator.Allocation{}, err
		case ok:
			return kept.Answer(rows, s.Profile), nil
		}
	}
	c, foreign, err := s.caseOf(ctx, allocation, asOf)
	if err != nil {
		return correlator.Allocation{}, err
	}
	a, err := s.amongOthers(ctx, s.grounded(c, correlator.Judge(c, s.Rules)), asOf)
	if err != nil {
		return correlator.Allocation{}, err
	}
	if asOf == 0 && s.Supplements != nil && a.AtRest() {
		if kept, ok := c.Supplement(a.Verdict, foreign); ok {
			kept.JudgedAt = a.Verdict.AsOf
			_ = s.Supplements.WriteSupplements(ctx, []correlator.Supplement{kept}) // who asks next waits as long as this one did
		}
	}
	return c.WithTimeline(a.Verdict), nil
}

// grounded is the assessment of a case, its verdict with all that it stands on.
func (s *Service) grounded(c *correlator.Case, v correlator.Verdict) correlator.Assessment {
	a := correlator.NewAssessment(c, v)
	a.Verdict = correlator.Ground(c, s.Rules, v)
	return a
}

// Explain is Verdict, and how it came to its verdict.
func (s *Service) Explain(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, correlator.Reasoning, error) {
	if err := s.admit(ctx, allocation); err != nil {
		return correlator.Allocation{}, correlator.Reasoning{}, err
	}
	c, _, err := s.caseOf(ctx, allocation, asOf)
	if err != nil {
		return correlator.Allocation{}, correlator.Reasoning{}, err
	}
	v, why := correlator.Explain(c, s.Rules)
	a, err := s.amongOthers(ctx, s.grounded(c, v), asOf)
	if err != nil {
		return correlator.Allocation{}, correlator.Reasoning{}, err
	}
	out, err := s.hideOthers(ctx, c.WithTimeline(a.Verdict))
	return out, why, err
}

// caseOf puts together the case of one allocation, and what was stamped with it and is not its own. ErrUnknown where there is
// no record of it.
func (s *Service) caseOf(ctx context.Context, allocation string, asOf int64) (c *correlator.Case, foreign []*correlator.Event, err error) {
	set, err := s.Store.RecordSet(ctx, allocation, asOf)
	if err != nil {
		return nil, nil, err
	}
	at := correlator.AsOf{Until: asOf, Now: set.Now, Durations: set.Durations}
	all := correlator.NewDataset(set.Records, set.Links, s.Profile, at)
	for _, c := range all.Cases() {
		if c.ID == allocation {
			for _, e := range all.Events {
				if e.Allocation != allocation && e.StampedAllocation() == allocation {
					foreign = append(foreign, e)
				}
			}
			return c, foreign, nil
		}
	}
	return nil, nil, ErrUnknown
}

// amongOthers applies what the store knows of other allocations' faults.
func (s *Service) amongOthers(ctx context.Context, a correlator.Assessment, asOf int64) (correlator.Assessment, error) {
	out, _, err := incident.ApplyBlastRadius(a, s.Profile, func(c incident.Cause) (iter.Seq[*incident.RelatedFault], error) {
		return s.Store.RelatedFaults(ctx, c, asOf)
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return a, nil
	}
	return out, err
}

// judgedOnRead bounds how many allocations are judged for one question where nobody keeps verdicts, and patience how long that
// may take: what was judged until then is answered.
const (
	judgedOnRead = 200
	patience     = 10 * time.Second
)

// Assessments gives the assessments of all allocations with something to tell: those that were kept, or where none are
// kept those of the allocations that were heard of last, judged now. examined counts those that were looked at.
func (s *Service) Assessments(ctx context.Context, asOf int64) (list []correlator.Assessment, examined int, err error) {
	list, examined, err = s.assessments(ctx, asOf)
	if err != nil || !ScopeOf(ctx).limited {
		return list, examined, err
	}
	kept := []correlator.Assessment{}
	for _, a := range list {
		ok, err := s.sees(ctx, a.ID)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			kept = append(kept, a)
		}
	}
	return kept, len(kept), nil // how many others there are is not told
}

// assessments is Assessments for who sees all.
func (s *Service) assessments(ctx context.Context, asOf int64) (list []correlator.Assessment, examined int, err error) {
	if asOf == 0 && s.Overview != nil {
		if list, examined, ok := s.Overview.Assessments(); ok {
			return list, examined, nil
		}
	}
	list, examined, err = s.Store.Assessments(ctx, asOf)
	if err == nil && examined > 0 || err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return list, examined, err
	}
	list, err = s.JudgeLatest(ctx, asOf, judgedOnRead)
	return list, len(list), err
}

// JudgeLatest judges the allocations that were heard of last, at most so many, each among the others.
func (s *Service) JudgeLatest(ctx context.Context, asOf int64, most int) ([]correlator.Assessment, error) {
	listed, err := s.Store.List(ctx, ListQuery{Limit: most})
	if err != nil {
		return nil, err
	}
	var cases []*correlator.Case
	begun := time.Now()
	for _, one := range listed {
		if time.Since(begun) > patience {
			break
		}
		c, _, err := s.caseOf(ctx, one.ID, asOf)
		switch {
		case errors.Is(err, ErrUnknown):
			continue // nothing of it had been observed by then
		case err != nil:
			return nil, err
		}
		cases = append(cases, c)
	}
	return assess(cases, s.Rules), nil
}

// History gives the revisions of one allocation's assessment, oldest first, at most so many. ErrUnknown where there is
// none, or where nobody keeps any.
func (s *Service) History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error) {
	if err := s.admit(ctx, allocation); err != nil {
		return nil, err
	}
	revisions, err := s.Store.History(ctx, allocation, most)
	switch {
	case errors.Is(err, errors.ErrUnsupported), err == nil && len(revisions) == 0:
		return nil, ErrUnknown
	case err != nil:
		return nil, err
	}
	return correlator.Condense(revisions), nil
}

// Events gives the page of a selection that begins at a cursor, "" for the first. All pages are read
// as of the mark that the first one fixed: records that are ingested later are in none of them, wherever
// their times lie. What could be read when the first page was is in exactly one page. A record that was
// on its way then, ingested before the mark by its Collector's clock but not yet to be seen, is read if
// its place comes after the cursor when it arrives; an AsOf that lies further back than inserts take
// leaves no such records.
func (s *Service) Events(ctx context.Context, sel Selection, cursor string, limit int) (Page, error) {
	if err := sel.Validate(); err != nil {
		return Page{}, err
	}
	return readPage(ctx, s.Store.Mark, sel.AsOf, digestOf(sel), cursor, limit, func(mark int64, after Position) iter.Seq2[*correlator.Event, error] {
		sel.AsOf = mark
		return s.onlySeen(ctx, s.Store.Events(ctx, sel, after))
	})
}

// Search gives the page of a search that begins at a cursor, "" for the first, as Events does.
func (s *Service) Search(ctx context.Context, q Query, cursor string, limit int) (Page, error) {
	if err := q.Validate(); err != nil {
		return Page{}, err
	}
	return readPage(ctx, s.Store.Mark, q.AsOf, digestOf(q), cursor, limit, func(mark int64, after Position) iter.Seq2[*correlator.Event, error] {
		q.AsOf = mark
		if cursor == "" {
			after = End()
		}
		return s.onlySeen(ctx, s.Store.Search(ctx, q, after))
	})
}
