package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// How the lines of an allocation are asked for; docs/adr/0022 has what was measured.
const (
	mostStretches = 16              // questions of a page
	pauseBetween  = 5 * time.Minute // a shorter pause is not worth a question
	atOnce        = 4               // questions that wait for their answers
	mostOfStretch = 5000            // lines of one question: Loki's max_entries_limit_per_query
)

// LinePage are the lines of a part of an allocation's records.
type LinePage struct {
	Lines []Line `json:"lines"`
	// Next is the cursor of the next page, null after the last one.
	Next *string `json:"next_cursor"`
	// AsOf is the ingested time as of which the index is read for all pages.
	AsOf correlator.Time `json:"as_of"`
	// Records of logs are in this part by our index. Lines without the allocation's identifier beside them (it was learnt later) are not
	// found by it.
	Records int `json:"records"`
	// Stretches are what was looked through.
	Stretches []Stretch `json:"stretches"`
	// Bounded says that lines or late-linked records may be missing: there are more than are read at once.
	Bounded bool `json:"bounded"`
}

// LinesOf reads the lines that carry an allocation, in order of time, a page of its records at a time. Our own index says when which
// source wrote of it: what keeps the lines is asked for those stretches of time and those streams alone. A line of the moment at which a page
// ends may be on the next one, too. errors.ErrUnsupported where no lines are kept.
func (s *Service) LinesOf(ctx context.Context, allocation string, from, to int64, cursor string, limit int) (LinePage, error) {
	if s.Lines == nil {
		return LinePage{}, errors.ErrUnsupported
	}
	if err := s.admit(ctx, allocation); err != nil {
		return LinePage{}, err
	}
	records, err := s.Events(ctx, Selection{Key: identity.Key{Kind: identity.Allocation, ID: allocation}, From: from, To: to}, cursor, limit)
	if err != nil {
		return LinePage{}, err
	}
	out := LinePage{Lines: []Line{}, AsOf: correlator.Time(records.AsOf), Stretches: []Stretch{}, Bounded: records.Bounded}
	if records.Next != "" {
		out.Next = &records.Next
	}
	var moments []Moment
	for _, e := range records.Events {
		if e.Record.Signal == record.Log {
			moments = append(moments, Moment{e.Time, e.Service})
		}
	}
	if out.Records = len(moments); out.Records == 0 {
		return out, nil
	}
	out.Stretches = Stretches(moments, pauseBetween, mostStretches)
	found := make([][]Line, len(out.Stretches))
	asked, ctx := errgroup.WithContext(ctx)
	asked.SetLimit(atOnce)
	for i, one := range out.Stretches {
		asked.Go(func() (err error) {
			found[i], err = s.Lines.Lines(ctx, LineQuestion{Sources: one.Sources, Key: semconv.AllocationID, ID: allocation, From: int64(one.From), To: int64(one.To), Most: mostOfStretch})
			return err
		})
	}
	if err := asked.Wait(); err != nil {
		return LinePage{}, err
	}
	for _, lines := range found {
		out.Bounded = out.Bounded || len(lines) == mostOfStretch
		out.Lines = append(out.Lines, lines...)
	}
	slices.SortStableFunc(out.Lines, func(a, b Line) int { return cmp.Compare(a.Time, b.Time) })
	return out, nil
}
