package live

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// store is a feed, a reader and a roster in memory.
type store struct {
	*memory.VerdictHistory
	memory.DurationStore
	profile *profile.Profile
	records []*record.Record
	live    []string
	judged  map[string]int64 // by replica
	now     time.Time        // its clock
	away    bool
	stories int
}

var errAway = errors.New("the store is away")

func (s *store) take(at time.Time, records ...*record.Record) {
	for _, r := range records {
		one := *r
		one.Ingested = at.UnixNano()
		s.records = append(s.records, &one)
	}
}

// arrive takes records when they were observed.
func (s *store) arrive(records ...*record.Record) {
	for _, r := range records {
		s.take(time.Unix(0, r.Observed), r)
	}
}

func (s *store) Arrivals(_ context.Context, after Mark, most int) ([]*record.Record, Mark, error) {
	if s.away {
		return nil, after, errAway
	}
	var out []*record.Record
	for _, r := range s.records {
		if compareMarks(MarkOf(r), after) > 0 {
			one := *r
			out = append(out, &one)
		}
	}
	slices.SortStableFunc(out, func(a, b *record.Record) int { return compareMarks(MarkOf(a), MarkOf(b)) })
	out = out[:min(most, len(out))]
	if n := len(out); n > 0 {
		after = MarkOf(out[n-1])
	}
	return out, after, nil
}

func compareMarks(a, b Mark) int {
	return cmp.Or(cmp.Compare(a.Ingested, b.Ingested), cmp.Compare(a.Key, b.Key))
}

func (s *store) Marks(_ context.Context, from, to int64) (out []Mark, err error) {
	if s.away {
		return nil, errAway
	}
	for _, r := range s.records {
		if r.Ingested >= from && r.Ingested <= to {
			out = append(out, MarkOf(r))
		}
	}
	return out, nil
}

func (s *store) Fetch(_ context.Context, marks []Mark) (out []*record.Record, err error) {
	for _, r := range s.records {
		if slices.Contains(marks, MarkOf(r)) {
			one := *r
			out = append(out, &one)
		}
	}
	return out, nil
}

func (s *store) Write(ctx context.Context, revisions []correlator.Revision) error {
	if s.away {
		return errAway
	}
	return s.VerdictHistory.Write(ctx, revisions)
}

func (s *store) reader() *memory.Reader { return memory.New(s.profile, s.records) }

func (s *store) Resolve(ctx context.Context, id string) ([]string, error) {
	return s.reader().Resolve(ctx, id)
}

func (s *store) RecordSet(ctx context.Context, id string, asOf int64) (*query.RecordSet, error) {
	s.stories++
	return s.reader().RecordSet(ctx, id, asOf)
}

func (s *store) List(ctx context.Context, q query.ListQuery) ([]query.Listed, error) {
	return s.reader().List(ctx, q)
}

func (s *store) Live(context.Context, time.Duration) ([]string, error) { return s.live, nil }
func (s *store) Now(context.Context) (time.Time, error)                { return s.now, nil }

func (s *store) Renew(_ context.Context, replica string, judged int64) error {
	if s.judged == nil {
		s.judged = map[string]int64{}
	}
	s.judged[replica] = judged
	return nil
}

func (s *store) Leave(ctx context.Context, replica string, judged int64) error {
	return s.Renew(ctx, replica, judged)
}

func (s *store) Judged(context.Context, time.Duration) (least int64, err error) {
	for _, at := range s.judged {
		if least == 0 || at < least {
			least = at
		}
	}
	return least, nil
}

func (s *store) Backlog(ctx context.Context, since int64, most int) (ids []string, err error) {
	listed, err := s.List(ctx, query.ListQuery{Limit: most})
	for _, one := range listed {
		a := correlator.Assessment{State: one.State}
		heard := slices.ContainsFunc(s.records, func(r *record.Record) bool {
			return r.Ingested >= since && slices.ContainsFunc(s.profile.Keys(r), func(k identity.Key) bool { return k.ID == one.ID })
		})
		if !a.AtRest() || since != 0 && heard {
			ids = append(ids, one.ID)
		}
	}
	return ids, err
}
