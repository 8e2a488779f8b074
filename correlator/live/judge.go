package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
)

// restAfter is how long an allocation at rest stays in the working set.
const restAfter = 15 * time.Minute

// maxPendingRevisions bounds what waits for a store that is away.
const maxPendingRevisions = 50_000

// take adds to the working set what the store took since the last look, and the record sets that were read.
func (s *Service) take(ctx context.Context, now time.Time) error {
	for _, one := range s.loader.take() {
		touched := s.set.Add(one.records.Records, one.records.Links)
		s.set.Loaded(one.id)
		s.queue.add(one.id, false, 0)
		s.enqueue(touched, 0)
	}
	found, err := s.follow.look(ctx, now)
	if err != nil {
		s.watermark.hold(now)
	}
	defer func() { s.watermark.advance(now, s.set.Now()) }()
	if len(found) == 0 {
		return err
	}
	s.metrics.rows.Add(float64(len(found)))
	s.watermark.note(now, found)
	// A page at a time, so that the time of arrival of what waits is known by page at least.
	const page = 500
	for len(found) > 0 {
		n := min(page, len(found))
		s.enqueue(s.set.Add(found[:n], nil), earliest(found[:n]))
		found = found[n:]
	}
	for service, n := range s.set.Ahead() {
		s.metrics.ahead.Add(float64(n))
		s.log.Warn("records claim to be observed in the future; judging goes by when they arrived", "service", service, "records", n)
	}
	s.hinted()
	s.invalidate(now)
	return err
}

// invalidateAfter is how long after a judgement an allocation in trouble is judged again because of what is unattributed. A
// failure that is unattributed may concern all that are in trouble, and a layer that fails says so many times a second: two
// hundred in trouble at ten milliseconds each would keep waiting whoever has something of their own to tell.
const invalidateAfter = 2 * time.Second

// invalidate notes which allocations unattributed records may concern: those whose nodes are named, at once; all
// in trouble where a failure names none, and those undetermined for any sign of life, when others have had their turn.
func (s *Service) invalidate(now time.Time) {
	changed := s.set.Invalidated()
	for id := range changed.Named {
		s.queue.add(id, true, now.UnixNano())
	}
	if !changed.General && !changed.Signs {
		return
	}
	for _, w := range s.published {
		if w.assessment == nil || w.invalidated != 0 || w.assessment.Verdict.Outcome == correlator.None {
			continue
		}
		if changed.General || w.assessment.Verdict.Outcome == correlator.Undetermined {
			w.invalidated = now.UnixNano()
		}
	}
}

// hinted asks for the record sets of allocations that a Collector named as a record's, where nothing here says so yet.
func (s *Service) hinted() {
	for _, id := range s.set.Hints() {
		s.loader.want(id, true, s.follow.mark.Ingested)
	}
}

func earliest(records []*record.Record) int64 {
	out := int64(0)
	for _, r := range records {
		if out == 0 || r.Ingested < out {
			out = r.Ingested
		}
	}
	return out
}

func (s *Service) enqueue(touched []string, arrived int64) {
	for _, id := range touched {
		s.queue.add(id, s.set.Urgent(id), arrived)
	}
}

// sweep queues what was not looked at for long, because deadlines pass; and lets go of what is at rest.
func (s *Service) sweep(now time.Time) {
	for id, w := range s.published {
		switch holds, _ := s.set.Holds(id); {
		case !holds:
			s.forget(id)
		case w.assessment == nil:
		case w.waits:
			s.queue.invalidate(id, w.looked.UnixNano())
		case w.invalidated != 0 && now.Sub(w.looked) >= invalidateAfter:
			s.queue.invalidate(id, w.invalidated)
		case w.assessment.AtRest():
			if now.UnixNano()-s.set.Heard(id) > int64(restAfter) {
				s.drop(id)
			}
		case now.Sub(w.looked) >= s.cfg.Sweep:
			s.queue.add(id, false, 0)
		}
	}
}

// judge works the queue off, for its share of the interval at most.
func (s *Service) judge(ctx context.Context, begun time.Time) error {
	s.sweep(begun)
	if s.queue.len() == 0 {
		return nil
	}
	turns := s.queue.all()
	if err := s.whole(ctx, turns); err != nil {
		return err
	}
	if err := s.recall(ctx, turns); err != nil {
		return err
	}
	until := s.now().Add(time.Duration(float64(s.cfg.Interval) * s.cfg.Share))
	for i, t := range turns {
		if i > 0 && i%8 == 0 && s.now().After(until) {
			s.metrics.postponed.Add(float64(len(turns) - i))
			return nil
		}
		holds, whole := s.set.Holds(t.id)
		switch {
		case !holds:
			s.queue.done(t.id)
			continue
		case !whole:
			s.loader.want(t.id, true, t.since) // its beginning is in the store alone
			s.queue.done(t.id)
			continue
		}
		s.queue.done(t.id)
		s.judgeOne(t)
	}
	return nil
}

// recall reads the last words on allocations of which this process said nothing yet, so that it does not
// say again what was said before.
func (s *Service) recall(ctx context.Context, turns []turn) error {
	var unknown []string
	for _, t := range turns {
		if holds, whole := s.set.Holds(t.id); holds && whole && s.published[t.id] == nil {
			unknown = append(unknown, t.id)
		}
	}
	const page = 1000
	for len(unknown) > 0 {
		n := min(page, len(unknown))
		said, err := s.from.History.Last(ctx, unknown[:n])
		if err != nil {
			return err
		}
		for _, id := range unknown[:n] {
			w := &published{}
			if r, ok := said[id]; ok {
				w.assessment, w.judgedAt, w.high = &r.Assessment, int64(r.JudgedAt), int64(r.HighWater)
			}
			s.published[id] = w
		}
		unknown = unknown[n:]
	}
	return nil
}

// judgeOne judges one allocation and notes what changed.
func (s *Service) judgeOne(t turn) {
	begun := s.now()
	judged, ok := s.safely(t.id)
	took := s.now().Sub(begun)
	s.metrics.took.Observe(took.Seconds())
	if !ok {
		s.published[t.id].waits, s.published[t.id].invalidated = false, 0
		return
	}
	w, assessment, arrived := s.published[t.id], judged.Assessment, judged.Arrived
	w.looked, w.waits, w.invalidated = begun, judged.Waits, 0
	s.faults.Add(&assessment)
	assessment, _ = s.faults.ApplyBlastRadius(assessment, s.profile)
	for _, id := range s.passages.Add(&assessment) {
		s.queue.invalidate(id, begun.UnixNano())
	}
	assessment = s.passages.Gone(assessment)
	assessment.Passages = nil // they are told
	s.note(w, judged.Completed)
	for _, e := range arrived {
		w.high = max(w.high, e.Ingested)
	}
	r, changed := correlator.Revise(w.assessment, assessment, arrived)
	w.assessment = &assessment
	if changed || judged.Moved {
		s.keep(judged, assessment, begun)
	}
	for _, f := range assessment.Verdict.Findings {
		if f.Kind == "rule_disabled" && changed {
			s.metrics.panics.WithLabelValues(f.Rule).Inc()
		}
	}
	if !changed {
		if t.since != 0 {
			s.metrics.judged.Observe(s.now().Sub(time.Unix(0, t.since)).Seconds())
		}
		return
	}
	w.judgedAt = max(begun.UnixNano(), w.judgedAt+1)
	r.JudgedAt, r.HighWater = correlator.Time(w.judgedAt), correlator.Time(w.high)
	s.metrics.revisions.WithLabelValues(r.Why).Inc()
	if len(s.pendingRevisions) < maxPendingRevisions {
		s.pendingRevisions = append(s.pendingRevisions, r)
	} else {
		w.assessment = nil // said as if for the first time, when the store is back
	}
	if since := cmp.Or(t.told, t.since); since != 0 {
		s.metrics.waiting = append(s.metrics.waiting, since)
	}
}

// keep notes what is left behind of a judgement, for those who show the allocation.
func (s *Service) keep(judged Judged, assessment correlator.Assessment, at time.Time) {
	if s.from.Supplements == nil || len(s.pendingSupplements) >= maxPendingRevisions {
		return
	}
	kept, ok := judged.Supplement(assessment.Verdict)
	if !ok {
		kept = correlator.Supplement{ID: assessment.ID} // none, rather than one that holds no more: rules without a version are nobody's
	}
	kept.JudgedAt = correlator.Time(at.UnixNano())
	s.pendingSupplements[kept.ID] = kept
}

// safely judges; a mistake of ours in one allocation is not the others' end.
func (s *Service) safely(id string) (judged Judged, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			ok = false
			s.metrics.panics.WithLabelValues("judge").Inc()
			s.log.Error("judging an allocation panicked; it is left out until something arrives", "allocation_id", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	return s.set.Judge(id, s.watermark.at)
}

// write says what changed. What could not be written is tried again with the next look.
func (s *Service) write(ctx context.Context, _ time.Time) error {
	if len(s.pendingRevisions) > 0 {
		if err := s.from.History.Write(ctx, s.pendingRevisions); err != nil {
			return err
		}
		s.pendingRevisions = nil
	}
	if len(s.pendingSupplements) > 0 {
		if err := s.from.Supplements.WriteSupplements(ctx, slices.Collect(maps.Values(s.pendingSupplements))); err != nil {
			return err
		}
		clear(s.pendingSupplements)
	}
	if err := s.file(ctx); err != nil {
		return err
	}
	if s.from.Written != nil && len(s.metrics.waiting) > 0 {
		s.from.Written()
	}
	now := s.now()
	for _, since := range s.metrics.waiting {
		lag := now.Sub(time.Unix(0, since)).Seconds()
		s.metrics.lag.Observe(lag)
		s.metrics.judged.Observe(lag)
	}
	s.metrics.waiting = s.metrics.waiting[:0]
	return nil
}
