// Package memory keeps records in memory under the same contract as the store: for files and for tests.
package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// Library holds a fixed set of records.
type Library struct {
	profile *profile.Profile
	records []*record.Record
}

var _ correlator.Library = (*Library)(nil)

// New keeps the records; they must not be changed afterwards.
func New(p *profile.Profile, records []*record.Record) *Library { return &Library{p, records} }

func (l *Library) gather(asOf int64) *correlator.Gathering {
	fresh := make([]*record.Record, len(l.records)) // a gathering writes its keys into the records
	for i, r := range l.records {
		one := *r
		fresh[i] = &one
	}
	return correlator.Gather(fresh, nil, l.profile, correlator.Moment{AsOf: asOf})
}

// Resolve implements correlator.Library.
func (l *Library) Resolve(_ context.Context, id string) ([]string, error) {
	last := map[string]int64{}
	for _, e := range l.gather(0).Events {
		if e.Allocation != "" && (slices.ContainsFunc(e.Keys, func(k identity.Key) bool { return k.ID == id }) || e.Allocation == id) {
			last[e.Allocation] = max(last[e.Allocation], e.At)
		}
	}
	return newestFirst(last), nil
}

// Story implements correlator.Library; it gives everything, the gathering decides.
func (l *Library) Story(_ context.Context, _ string, _ int64) (*correlator.Story, error) {
	g := l.gather(0)
	s := &correlator.Story{Now: g.Now}
	for _, e := range g.Events {
		s.Records = append(s.Records, e.Record)
	}
	return s, nil
}

// List implements correlator.Library.
func (l *Library) List(_ context.Context, q correlator.ListQuery) ([]correlator.Listed, error) {
	out := []correlator.Listed{}
	for _, c := range l.gather(0).Cases() {
		one := correlator.Listed{ID: c.ID, LastSeen: correlator.Time(c.Events[len(c.Events)-1].At)}
		if state, since, ok := c.Lifecycle.State(); ok {
			at := correlator.Time(since)
			one.State, one.Since = &state, &at
		}
		if q.State == "" || one.State != nil && *one.State == q.State {
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b correlator.Listed) int {
		return cmp.Or(cmp.Compare(b.LastSeen, a.LastSeen), cmp.Compare(a.ID, b.ID))
	})
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out, nil
}

func newestFirst(last map[string]int64) []string {
	out := make([]string, 0, len(last))
	for id := range last {
		out = append(out, id)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(last[b], last[a]), cmp.Compare(a, b)) })
	return out
}
