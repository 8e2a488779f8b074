package memory

import (
	"context"
	"iter"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
)

// Mark implements query.Events.
func (l *Reader) Mark(context.Context) (int64, error) {
	var last int64
	for _, r := range l.records {
		last = max(last, r.Ingested)
	}
	return last, nil
}

// Events implements query.Events.
func (l *Reader) Events(_ context.Context, s query.Selection, after query.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		events, peers := l.ingested(s.AsOf)
		for _, e := range events {
			if query.PositionOf(e).Compare(after) > 0 && s.Holds(e, peers) && !yield(e, nil) {
				return
			}
		}
	}
}

// ingested are the events of what was ingested by a mark, in the order of a reading.
func (l *Reader) ingested(mark int64) ([]*correlator.Event, *query.Peers) {
	part := &Reader{profile: l.profile}
	given := map[string]bool{}
	for _, r := range l.records {
		if r.Ingested <= mark {
			part.records = append(part.records, r)
			given[r.Key()] = true
		}
	}
	events, peers := part.dataset(0).Events, query.NewPeers()
	events = slices.DeleteFunc(events, func(e *correlator.Event) bool { return !given[e.Key] }) // worked out of others
	for _, e := range events {
		links, err := e.Links()
		if err != nil {
			links = nil // refused as it is by whoever stores links
		}
		for _, f := range append(links, identity.SeenLinks(e.Keys)...) {
			peers.Add(f)
		}
	}
	slices.SortFunc(events, func(a, b *correlator.Event) int { return query.PositionOf(a).Compare(query.PositionOf(b)) })
	return events, peers
}

// Search implements query.Events.
func (l *Reader) Search(_ context.Context, q query.Query, before query.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		events, _ := l.ingested(q.AsOf)
		for _, e := range slices.Backward(events) {
			if query.PositionOf(e).Compare(before) < 0 && q.Matches(e) && !yield(e, nil) {
				return
			}
		}
	}
}
