// Package memory keeps records in memory under the same contract as the store: for files and for tests.
package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// Reader holds a fixed set of records.
type Reader struct {
	query.Unsupported // it keeps no verdicts

	profile *profile.Profile
	records []*record.Record
}

var _ query.Store = (*Reader)(nil)

// New keeps the records; they must not be changed afterwards.
func New(p *profile.Profile, records []*record.Record) *Reader {
	return &Reader{profile: p, records: records}
}

func (l *Reader) dataset(asOf int64) *correlator.Dataset {
	fresh := make([]*record.Record, len(l.records)) // a dataset writes its keys into the records
	for i, r := range l.records {
		one := *r
		fresh[i] = &one
	}
	return correlator.NewDataset(fresh, nil, l.profile, correlator.AsOf{Until: asOf})
}

// Resolve implements query.Reader.
func (l *Reader) Resolve(_ context.Context, id string) ([]string, error) {
	last := map[string]int64{}
	g := l.dataset(0)
	for _, e := range g.Events {
		if instance := (identity.Key{Kind: identity.NodeInstance, ID: id}); e.Keys.Has(instance) {
			for _, allocation := range g.Index.HeldMeanwhile(e.Keys.First(identity.Node), instance) {
				last[allocation] = max(last[allocation], e.At)
			}
		}
		if e.Allocation != "" && (slices.ContainsFunc(e.Keys, func(k identity.Key) bool { return k.ID == id }) || e.Allocation == id) {
			last[e.Allocation] = max(last[e.Allocation], e.At)
		}
	}
	return newestFirst(last), nil
}

// RecordSet implements query.Reader; it gives everything, the dataset decides.
func (l *Reader) RecordSet(_ context.Context, _ string, _ int64) (*query.RecordSet, error) {
	g := l.dataset(0)
	s := &query.RecordSet{Now: g.Now}
	for _, e := range g.Events {
		s.Records = append(s.Records, e.Record)
	}
	return s, nil
}

// List implements query.Reader.
func (l *Reader) List(_ context.Context, q query.ListQuery) ([]query.Listed, error) {
	out := []query.Listed{}
	for _, c := range l.dataset(0).Cases() {
		one := query.Listed{ID: c.ID, LastSeen: correlator.Time(c.Events[len(c.Events)-1].At)}
		if state, since, ok := c.Lifecycle.State(); ok {
			at := correlator.Time(since)
			one.State, one.Since = &state, &at
		}
		if q.State == "" || one.State != nil && *one.State == q.State {
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b query.Listed) int {
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
