package query

import (
	"context"
	"errors"
	"iter"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/profile"
)

// Service answers questions out of a store, by one profile and one list of rules.
type Service struct {
	Store   Store
	Profile *profile.Profile
	Rules   []correlator.Rule
}

// Resolve gives the allocations that an identifier leads to, the most recently heard of first. ErrUnknown where there is
// none.
func (s *Service) Resolve(ctx context.Context, id string) ([]string, error) {
	found, err := s.Store.Resolve(ctx, id)
	if err == nil && len(found) == 0 {
		err = ErrUnknown
	}
	return found, err
}

// List gives allocations with their last state, the most recently heard of first.
func (s *Service) List(ctx context.Context, q ListQuery) ([]Listed, error) {
	return s.Store.List(ctx, q)
}

// Verdict joins and judges one allocation. asOf 0 is now. ErrUnknown where there is no record of it.
func (s *Service) Verdict(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, error) {
	c, err := s.caseOf(ctx, allocation, asOf)
	if err != nil {
		return correlator.Allocation{}, err
	}
	a, err := s.amongOthers(ctx, correlator.NewAssessment(c, correlator.Judge(c, s.Rules)), asOf)
	if err != nil {
		return correlator.Allocation{}, err
	}
	return c.WithTimeline(a.Verdict), nil
}

// Explain is Verdict, and how it came to its verdict.
func (s *Service) Explain(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, correlator.Reasoning, error) {
	c, err := s.caseOf(ctx, allocation, asOf)
	if err != nil {
		return correlator.Allocation{}, correlator.Reasoning{}, err
	}
	v, why := correlator.Explain(c, s.Rules)
	a, err := s.amongOthers(ctx, correlator.NewAssessment(c, v), asOf)
	if err != nil {
		return correlator.Allocation{}, correlator.Reasoning{}, err
	}
	return c.WithTimeline(a.Verdict), why, nil
}

// caseOf puts together the case of one allocation. ErrUnknown where there is no record of it.
func (s *Service) caseOf(ctx context.Context, allocation string, asOf int64) (*correlator.Case, error) {
	set, err := s.Store.RecordSet(ctx, allocation, asOf)
	if err != nil {
		return nil, err
	}
	at := correlator.AsOf{Until: asOf, Now: set.Now, Durations: set.Durations}
	for _, c := range correlator.NewDataset(set.Records, set.Links, s.Profile, at).Cases() {
		if c.ID == allocation {
			return c, nil
		}
	}
	return nil, ErrUnknown
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

// judgedOnRead bounds how many allocations are judged for one question where nobody keeps verdicts.
const judgedOnRead = 200

// Assessments gives the assessments of all allocations with something to tell: those that were kept, or where none are
// kept those of the allocations that were heard of last, judged now. examined counts those that were looked at.
func (s *Service) Assessments(ctx context.Context, asOf int64) (list []correlator.Assessment, examined int, err error) {
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
	for _, one := range listed {
		c, err := s.caseOf(ctx, one.ID, asOf)
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
		return s.Store.Events(ctx, sel, after)
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
		return s.Store.Search(ctx, q, after)
	})
}
