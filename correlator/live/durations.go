package live

import (
	"context"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// learnEvery is how often the duration store is asked what steps took: the 99th percentile of weeks moves slowly, and a new
// platform has its first thirty cases within minutes.
const learnEvery = 5 * time.Minute

// maxPendingDurations bounds the steps that wait for a store that is away; what is beyond is filed with the next
// judgement after a restart, or never: a percentile does not miss it.
const maxPendingDurations = 100_000

// part is one finished step of an allocation.
type part struct{ step, part string }

// learn reads what steps took lately.
func (s *Service) learn(ctx context.Context, now time.Time) error {
	if s.from.Durations == nil || now.Sub(s.learnt) < learnEvery {
		return nil
	}
	took, err := s.from.Durations.Durations(ctx, 0)
	if err != nil {
		return err
	}
	s.set.UseDurations(took)
	s.learnt = now
	return nil
}

// note keeps the steps that were not filed yet; not those that ended too long ago for anybody to ask for them.
func (s *Service) note(w *published, finished []correlator.CompletedStep) {
	if s.from.Durations == nil {
		return
	}
	oldest := s.set.Now() - int64(correlator.Lately)
	for _, f := range finished {
		k := part{f.Step, f.Part}
		if f.Ended < oldest || w.filed[k] || len(s.pendingDurations) >= maxPendingDurations {
			continue
		}
		if w.filed == nil {
			w.filed = map[part]bool{}
		}
		w.filed[k] = true
		s.pendingDurations = append(s.pendingDurations, f)
	}
}

// file writes the steps that were noted. What could not be written is tried again with the next look.
func (s *Service) file(ctx context.Context) error {
	if len(s.pendingDurations) == 0 {
		return nil
	}
	if err := s.from.Durations.AddDurations(ctx, s.pendingDurations); err != nil {
		return err
	}
	s.pendingDurations = nil
	return nil
}
