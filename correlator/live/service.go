package live

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/profile"
)

// Service judges allocations as their records arrive.
type Service struct {
	cfg     Config
	from    Sources
	profile *profile.Profile
	log     *slog.Logger
	now     func() time.Time
	metrics *metrics

	// Run's goroutine alone touches these.
	set                *WorkingSet
	partitioner        *partitioner
	follow             *follower
	queue              *queue
	published          map[string]*published // by allocation
	pendingRevisions   []correlator.Revision
	pendingSupplements map[string]correlator.Supplement // by allocation
	pendingDurations   []correlator.CompletedStep
	faults             *incident.FaultIndex
	passages           *incident.Passages
	loader             *loader
	watermark          *watermark

	began                            time.Time // when following began, by the store's clock
	since                            int64     // up to which time of arrival others had judged when this process began
	judged                           int64     // up to which it has, as it said last
	leased, adopted, counted, learnt time.Time
	failing                          bool

	looked atomic.Int64 // when the last look ended well, Unix nanoseconds; when this was made before the first
}

// published is the last assessment that was written of an allocation.
type published struct {
	assessment  *correlator.Assessment // nil before the first
	judgedAt    int64
	high        int64 // the ingest high-water mark
	looked      time.Time
	waits       bool          // for records that may still be under way
	invalidated int64         // since when an unattributed record may concern it; 0 where none does
	filed       map[part]bool // its steps that the duration store has
}

// New gives a service; Run starts it. Its metrics go to reg.
func New(cfg Config, from Sources, p *profile.Profile, rules []correlator.Rule, log *slog.Logger, reg prometheus.Registerer) *Service {
	if cfg.Replica == "" {
		cfg.Replica = Name()
	}
	s := &Service{
		cfg: cfg, from: from, profile: p, log: log, now: time.Now, metrics: newMetrics(reg, p), partitioner: newPartitioner(cfg.Replica), queue: newQueue(),
		published: map[string]*published{}, pendingSupplements: map[string]correlator.Supplement{}, faults: incident.NewFaultIndex(), passages: incident.NewPassages(), loader: newLoader(from.Reader), watermark: newWatermark(),
	}
	s.looked.Store(s.now().UnixNano())
	bounds := DefaultBounds()
	bounds.Total, bounds.Mine = cfg.Records, s.partitioner.mine
	s.set = NewWorkingSet(p, rules, bounds)
	return s
}

// Name is unique enough for a replica that was given none.
func Name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "correlator"
	}
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	return host + "-" + hex.EncodeToString(random)
}

// Run follows, judges and writes until ctx ends. A store that is away is waited for: nothing is lost by it,
// since every verdict that is asked for is judged anew.
func (s *Service) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { s.loader.run(ctx); return nil })
	group.Go(func() error {
		tick := time.NewTicker(s.cfg.Interval)
		defer tick.Stop()
		for {
			s.look(ctx)
			select {
			case <-ctx.Done():
				s.leave(context.WithoutCancel(ctx))
				return nil
			case <-tick.C:
			}
		}
	})
	return group.Wait()
}

// atMost bounds one look at a store that hangs.
const atMost = 10 * time.Second

// look is a step that is finished though the process ends meanwhile: a query that is broken off goes on in
// the store.
func (s *Service) look(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), atMost)
	defer cancel()
	s.step(whole)
}

// step is one look: who judges, what arrived, what follows from it.
func (s *Service) step(ctx context.Context) {
	begun := s.now()
	var err error
	for _, phase := range []struct {
		name string
		do   func(context.Context, time.Time) error
	}{{"lease", s.renew}, {"learn", s.learn}, {"feed", s.take}, {"judge", s.judge}, {"write", s.write}} {
		since := s.now()
		if err = phase.do(ctx, begun); err != nil {
			break
		}
		s.metrics.phases.WithLabelValues(phase.name).Observe(s.now().Sub(since).Seconds())
	}
	s.report(ctx, err)
	if s.now().Sub(s.counted) >= s.metrics.every {
		s.counted = s.now()
		s.metrics.count(s)
	}
}

// report logs a failure once, and its end.
func (s *Service) report(ctx context.Context, err error) {
	if err == nil {
		s.looked.Store(s.now().UnixNano())
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.metrics.failures.Inc()
		if !s.failing {
			s.log.Warn("judging waits for the store", "error", err)
		}
		s.failing = true
	case s.failing:
		s.failing = false
		s.log.Info("judging goes on")
	}
}

// stopped is how long after its last look judging counts as stopped: three looks that hang.
const stopped = 3 * atMost

// Check is an error where judging has stopped.
func (s *Service) Check(context.Context) error {
	if quiet := s.now().Sub(time.Unix(0, s.looked.Load())); quiet > stopped {
		return fmt.Errorf("has stopped: the last look that ended well was %s ago", quiet.Round(time.Second))
	}
	return nil
}

func (s *Service) drop(id string) {
	s.set.Drop(id)
	s.queue.done(id)
	s.forget(id)
}

func (s *Service) forget(id string) {
	delete(s.published, id)
	s.faults.Drop(id)
	s.passages.Drop(id)
}
