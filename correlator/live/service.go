package live

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/profile"
)

// Sources are what the service works on; a store is all of them.
type Sources struct {
	Library correlator.Library
	Ledger  correlator.Ledger
	Feed    Feed
	Roster  Roster
	Diary   correlator.Diary // nil: the profile's budgets alone say what is late
	// Beginnings may be nil: then the story is read of each allocation that nobody is heard to request.
	Beginnings Beginnings
}

// Service judges allocations as their records arrive.
type Service struct {
	cfg     Config
	from    Sources
	profile *profile.Profile
	log     *slog.Logger
	now     func() time.Time
	metrics *metrics

	// Run's goroutine alone touches these.
	desk     *correlator.Desk
	share    *share
	follow   *follower
	queue    *queue
	words    map[string]*word // by allocation
	unsaid   []correlator.Revision
	unfiled  []correlator.Finished
	together *correlator.Together
	loader   *loader
	pace     *pace
	settled  int64 // what was observed until then is on the desk

	began                            time.Time // when following began
	leased, adopted, counted, learnt time.Time
	failing                          bool
}

// word is the last that was said of an allocation.
type word struct {
	standing *correlator.Standing // nil where nothing was said yet
	judgedAt int64
	high     int64 // the ingest high-water mark
	looked   time.Time
	waits    bool          // for what may still be under way
	stirred  int64         // since when something of nobody may concern it; 0 where nothing does
	filed    map[part]bool // its steps that the diary has
}

// New gives a service; Run starts it. Its metrics go to reg.
func New(cfg Config, from Sources, p *profile.Profile, rules []correlator.Rule, log *slog.Logger, reg prometheus.Registerer) *Service {
	if cfg.Replica == "" {
		cfg.Replica = name()
	}
	s := &Service{
		cfg: cfg, from: from, profile: p, log: log, now: time.Now, metrics: newMetrics(reg, p), share: newShare(cfg.Replica), queue: newQueue(),
		words: map[string]*word{}, together: correlator.NewTogether(), loader: newLoader(from.Library), pace: newPace(),
	}
	opt := correlator.DefaultDeskOptions()
	opt.Total, opt.Mine = cfg.Records, s.share.mine
	s.desk = correlator.NewDesk(p, rules, opt)
	return s
}

// name is unique enough for a replica that was given none.
func name() string {
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
	s.follows(s.now())
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

// renew keeps this replica's lease, and takes its share anew where replicas came or went.
func (s *Service) renew(ctx context.Context, now time.Time) error {
	if now.Sub(s.leased) < s.cfg.Lease/4 {
		return nil
	}
	if err := s.from.Roster.Renew(ctx, s.cfg.Replica); err != nil {
		return err
	}
	live, err := s.from.Roster.Live(ctx, s.cfg.Lease)
	if err != nil {
		return err
	}
	s.leased = now
	if changed := s.share.set(live); !changed && !s.adopted.IsZero() {
		return nil
	}
	s.log.Info("judging is shared", "replica", s.cfg.Replica, "replicas", s.share.count())
	for id := range s.words {
		if !s.share.mine(id) {
			s.drop(id)
		}
	}
	return s.adopt(ctx, now)
}

// adopt takes over allocations that are this replica's, go on, and lie on nobody's desk here.
func (s *Service) adopt(ctx context.Context, now time.Time) error {
	if s.cfg.Adopt > 0 {
		listed, err := s.from.Library.List(ctx, correlator.ListQuery{Limit: s.cfg.Adopt})
		if err != nil {
			return err
		}
		for _, one := range listed {
			standing := correlator.Standing{State: one.State}
			if holds, _ := s.desk.Holds(one.ID); !holds && s.share.mine(one.ID) && !standing.AtRest() {
				s.loader.want(one.ID, false)
			}
		}
	}
	s.adopted = now
	return nil
}

func (s *Service) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.from.Roster.Leave(ctx, s.cfg.Replica); err != nil {
		s.log.Debug("lease not given back; it ends by itself", "error", err)
	}
}

func (s *Service) drop(id string) {
	s.desk.Drop(id)
	s.queue.done(id)
	s.forget(id)
}

func (s *Service) forget(id string) {
	delete(s.words, id)
	s.together.Drop(id)
}
