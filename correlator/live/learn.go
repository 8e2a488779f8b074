package live

import (
	"context"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// learnEvery is how often the diary is asked what steps took: the 99th percentile of weeks moves slowly, and a new
// platform has its first thirty cases within minutes.
const learnEvery = 5 * time.Minute

// maxUnfiled bounds the steps that wait for a store that is away; what is beyond is filed with the next
// judgement after a restart, or never: a percentile does not miss it.
const maxUnfiled = 100_000

// part is one finished step of an allocation.
type part struct{ step, part string }

// learn reads what steps took lately.
func (s *Service) learn(ctx context.Context, now time.Time) error {
	if s.from.Diary == nil || now.Sub(s.learnt) < learnEvery {
		return nil
	}
	took, err := s.from.Diary.Took(ctx, 0)
	if err != nil {
		return err
	}
	s.desk.Learn(took)
	s.learnt = now
	return nil
}

// note keeps the steps that were not filed yet.
func (s *Service) note(w *word, finished []correlator.Finished) {
	if s.from.Diary == nil {
		return
	}
	for _, f := range finished {
		k := part{f.Step, f.Part}
		if w.filed[k] || len(s.unfiled) >= maxUnfiled {
			continue
		}
		if w.filed == nil {
			w.filed = map[part]bool{}
		}
		w.filed[k] = true
		s.unfiled = append(s.unfiled, f)
	}
}

// file writes the steps that were noted. What could not be written is tried again with the next look.
func (s *Service) file(ctx context.Context) error {
	if len(s.unfiled) == 0 {
		return nil
	}
	if err := s.from.Diary.File(ctx, s.unfiled); err != nil {
		return err
	}
	s.unfiled = nil
	return nil
}
