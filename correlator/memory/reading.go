package memory

import (
	"context"
	"iter"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
)

var _ correlator.EventReader = (*Library)(nil)

// Mark implements correlator.EventReader.
func (l *Library) Mark(context.Context) (int64, error) {
	var last int64
	for _, r := range l.records {
		last = max(last, r.Ingested)
	}
	return last, nil
}

// Events implements correlator.EventReader.
func (l *Library) Events(_ context.Context, s correlator.Selection, after correlator.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		events, peers := l.ingested(s.AsOf)
		for _, e := range events {
			if e.Position().Compare(after) > 0 && s.Holds(e, peers) && !yield(e, nil) {
				return
			}
		}
	}
}

// ingested are the events of what was ingested by a mark, in the order of a reading.
func (l *Library) ingested(mark int64) ([]*correlator.Event, *correlator.Peers) {
	part := &Library{profile: l.profile}
	given := map[string]bool{}
	for _, r := range l.records {
		if r.Ingested <= mark {
			part.records = append(part.records, r)
			given[r.Key()] = true
		}
	}
	events, peers := part.gather(0).Events, correlator.NewPeers()
	events = slices.DeleteFunc(events, func(e *correlator.Event) bool { return !given[e.Key] }) // worked out of others
	for _, e := range events {
		facts, err := e.Facts()
		if err != nil {
			facts = nil // refused as it is by whoever stores links
		}
		for _, f := range append(facts, identity.SeenFacts(e.Keys)...) {
			peers.Add(f)
		}
	}
	slices.SortFunc(events, func(a, b *correlator.Event) int { return a.Position().Compare(b.Position()) })
	return events, peers
}

var _ correlator.Searcher = (*Library)(nil)

// Search implements correlator.Searcher.
func (l *Library) Search(_ context.Context, q correlator.Query, before correlator.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		events, _ := l.ingested(q.AsOf)
		for _, e := range slices.Backward(events) {
			if e.Position().Compare(before) < 0 && q.Matches(e) && !yield(e, nil) {
				return
			}
		}
	}
}
