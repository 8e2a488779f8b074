package live

import "context"

// StartTimes tells when allocations began.
type StartTimes interface {
	// Began gives the earliest time that a record which was stored as an allocation's states, Unix nanoseconds. One of
	// which nothing was stored is not in the answer.
	Began(ctx context.Context, allocations []string) (map[string]int64, error)
}

// beginAt is how many allocations are asked for at once.
const beginAt = 1000

// whole finds the allocations that began while this process followed, though nobody said "requested", as
// where a proxy turned the request away: what the working set has of them is all there is. Their record sets need
// not be read, which takes a store longer than this question for all of them.
func (s *Service) whole(ctx context.Context, turns []turn) error {
	if s.from.StartTimes == nil {
		return nil
	}
	var asked []string
	for _, t := range turns {
		if holds, whole := s.set.Holds(t.id); holds && !whole && s.set.First(t.id) >= s.began.UnixNano() {
			asked = append(asked, t.id)
		}
	}
	for len(asked) > 0 {
		n := min(beginAt, len(asked))
		began, err := s.from.StartTimes.Began(ctx, asked[:n])
		if err != nil {
			return err
		}
		for _, id := range asked[:n] {
			// One that left the working set at rest, and is heard of again, began before its first record here.
			if at, stored := began[id]; !stored || s.set.First(id) <= at {
				s.set.HasBeginning(id)
			}
		}
		asked = asked[n:]
	}
	return nil
}

// follows begins to follow, by the store's clock: what a record says that is stamped from now on was not stored before the
// first look, unless its emitter's clock is ahead by longOverlap.
func (s *Service) follows(ctx context.Context) error {
	now, err := s.from.Feed.Now(ctx)
	if err != nil {
		return err
	}
	s.began, s.follow = now, newFollower(s.from.Feed, now.Add(-longOverlap))
	return nil
}
