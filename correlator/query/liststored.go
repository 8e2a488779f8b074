package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// MostListed is how many allocations, those that were heard of last, are looked at for a list that memory cannot give.
const MostListed = 10_000

// Standings give where allocations stand and what was said of them last: what an overview keeps in memory.
type Standings interface {
	// Heads gives the allocations of which anything was taken since a time (0: ever), at most so many, the most recently heard of
	// first.
	Heads(ctx context.Context, since int64, most int) ([]Head, error)
	// LabelsSince gives the labels that were told since a time, the first word of each kind first.
	LabelsSince(ctx context.Context, since int64) ([]Label, error)
	// LastSaid gives the last word on every allocation, at most so many.
	LastSaid(ctx context.Context, most int) ([]Said, error)
}

// listStored is List without an overview.
func (s *Service) listStored(ctx context.Context, q ListQuery) ([]Listed, string, error) {
	read := s.standing
	if s.Standings == nil {
		read = s.standingOf
	}
	all, err := read(ctx, q)
	if err != nil {
		return nil, "", err
	}
	if q.Order == ByID {
		slices.SortFunc(all, func(a, b listedSince) int { return strings.Compare(a.ID, b.ID) })
	}
	out := []Listed{}
	for i := range all {
		one := &all[i]
		if !q.Matches(&one.Listed, one.first) {
			continue
		}
		if q.Limit > 0 && len(out) == q.Limit {
			if q.Order == ByID {
				return out, out[len(out)-1].ID, nil
			}
			break
		}
		out = append(out, one.Listed)
	}
	return out, "", nil
}

// listedSince is a line of a list, and when its allocation was first heard of.
type listedSince struct {
	Listed
	first correlator.Time
}

// standing gives the lines of all allocations, as an overview has them.
func (s *Service) standing(ctx context.Context, _ ListQuery) ([]listedSince, error) {
	heads, err := s.Standings.Heads(ctx, 0, MostListed)
	if err != nil {
		return nil, err
	}
	labels, err := s.Standings.LabelsSince(ctx, 0)
	if err != nil {
		return nil, err
	}
	said, err := s.Standings.LastSaid(ctx, MostListed)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(heads, func(a, b Head) int { return cmp.Or(cmp.Compare(b.Last, a.Last), strings.Compare(a.ID, b.ID)) })
	out, at := make([]listedSince, len(heads)), make(map[string]*Listed, len(heads))
	for i, h := range heads {
		out[i] = listedSince{Listed{ID: h.ID, State: h.State, Since: h.Since, LastSeen: h.Last}, h.First}
		at[h.ID] = &out[i].Listed
	}
	for _, l := range labels {
		one := at[l.Allocation]
		switch {
		case one == nil:
		case l.Name == LabelTenant:
			one.Tenant = cmp.Or(one.Tenant, l.Value)
		case l.Name == LabelProvider:
			one.Provider = withProvider(one.Provider, l.Value)
		}
	}
	now := time.Now().UnixNano()
	for i := range said {
		if one := at[said[i].ID]; one != nil {
			one.Say(&said[i].Assessment, now)
		}
	}
	return out, nil
}

// withProvider adds a provider to those of a line.
func withProvider(line, name string) string {
	all := strings.FieldsFunc(line, func(r rune) bool { return r == ',' })
	if slices.Contains(all, name) {
		return line
	}
	all = append(all, name)
	slices.Sort(all)
	return strings.Join(all, ",")
}

// standingOf is standing of a store that knows no more than lists, and what was kept of those with something to tell.
func (s *Service) standingOf(ctx context.Context, q ListQuery) ([]listedSince, error) {
	all, err := s.Store.List(ctx, ListQuery{State: q.State, Limit: MostListed})
	if err != nil {
		return nil, err
	}
	kept := map[string]*correlator.Assessment{}
	if len(all) > 0 {
		list, _, err := s.Store.Assessments(ctx, 0)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
		for i := range list {
			kept[list[i].ID] = &list[i]
		}
	}
	out := make([]listedSince, len(all))
	for i, one := range all {
		if a := kept[one.ID]; a != nil {
			one.Say(a, int64(a.Verdict.AsOf))
		}
		if q.Scope.limited || q.Tenant != "" {
			if one.Tenant, err = s.tenant(ctx, one.ID); err != nil {
				return nil, err
			}
		}
		out[i] = listedSince{one, one.LastSeen}
	}
	return out, nil
}
