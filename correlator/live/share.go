package live

import (
	"context"
	"time"
)

// renew keeps this replica's lease, and takes its share anew where replicas came or went.
func (s *Service) renew(ctx context.Context, now time.Time) error {
	if now.Sub(s.leased) < s.cfg.Lease/4 {
		return nil
	}
	if s.leased.IsZero() {
		if err := s.resume(ctx); err != nil {
			return err
		}
	}
	if err := s.from.Membership.Renew(ctx, s.cfg.Replica, s.judgedUntil()); err != nil {
		return err
	}
	live, err := s.from.Membership.Live(ctx, s.cfg.Lease)
	if err != nil {
		return err
	}
	if changed := s.partitioner.set(live); !changed && !s.adopted.IsZero() {
		s.leased = now
		return nil
	}
	s.log.Info("judging is shared", "replica", s.cfg.Replica, "replicas", s.partitioner.count())
	for id := range s.published {
		if !s.partitioner.mine(id) {
			s.drop(id)
		}
	}
	if err := s.adopt(ctx, now); err != nil {
		return err
	}
	s.leased = now
	return nil
}

// resume begins to follow, and learns how far others, or this replica before its end, had come. Its own lease would hide that.
func (s *Service) resume(ctx context.Context) (err error) {
	if s.follow == nil {
		if err := s.follows(ctx); err != nil {
			return err
		}
	}
	s.since, err = s.from.Membership.Judged(ctx, heardOf*s.cfg.Lease)
	return err
}

// heardOf is for how many leases a replica that died is one of those whose share is taken over: others notice within one
// lease, and a quarter of it.
const heardOf = 3

// adopt takes over allocations that are this replica's and lie on nobody's working set here: those that go on, and those of
// which anything arrived that nobody has judged, whatever became of them since. A failure that came and went while nobody judged
// is kept all the same.
func (s *Service) adopt(ctx context.Context, now time.Time) error {
	if s.cfg.Adopt > 0 {
		since := s.since
		if !s.adopted.IsZero() {
			var err error
			if since, err = s.from.Membership.Judged(ctx, heardOf*s.cfg.Lease); err != nil {
				return err
			}
		}
		ids, err := s.from.Backlog.Backlog(ctx, since, s.cfg.Adopt)
		if err != nil {
			return err
		}
		if len(ids) == s.cfg.Adopt {
			s.log.Warn("more allocations are to be taken over than judging.adopt allows; the others are judged when something of them arrives", "adopt", s.cfg.Adopt)
		}
		for _, id := range ids {
			if holds, _ := s.set.Holds(id); !holds && s.partitioner.mine(id) {
				s.loader.want(id, false, since)
			}
		}
	}
	s.adopted = now
	return nil
}

// judgedUntil is up to which time of arrival all that arrived is judged and written: what waits holds it back.
func (s *Service) judgedUntil() int64 {
	if s.adopted.IsZero() {
		return s.since // nothing that was left is taken over yet
	}
	until := s.follow.mark.Ingested
	for _, t := range s.queue.waiting {
		if t.since != 0 {
			until = min(until, t.since)
		}
	}
	if oldest := s.loader.oldest(); oldest != 0 {
		until = min(until, oldest)
	}
	if len(s.pendingRevisions) > 0 {
		until = min(until, s.judged)
	}
	s.judged = until
	return until
}

func (s *Service) leave(ctx context.Context) {
	if s.follow == nil {
		return // it never began
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.from.Membership.Leave(ctx, s.cfg.Replica, s.judgedUntil()); err != nil {
		s.log.Debug("lease not given back; it ends by itself", "error", err)
	}
}
