package linkstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/faultline-io/faultline/internal/identity"
)

// Index takes the links; identity.Index is one. It must be safe for concurrent use.
type Index interface {
	// Knows says whether a link would tell nothing new.
	Knows(f identity.Link) bool
	// AddFrom takes a link on the account of the service that told it.
	AddFrom(service string, f identity.Link) error
}

// Follower tells an index what other replicas have learnt, and what was known before the restart.
type Follower struct {
	cfg     *Config
	index   Index
	log     *zap.Logger
	metrics *metrics
	source  source
	cursor  *cursor

	warm   chan struct{} // closed when the first look ended, well or not
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// New prepares a Follower; nothing is asked before Start. The configuration was validated.
func New(cfg *Config, index Index, set component.TelemetrySettings) (*Follower, error) {
	s, err := dial(string(cfg.DSN))
	if err != nil {
		return nil, err
	}
	return follow(cfg, index, set, s)
}

func follow(cfg *Config, index Index, set component.TelemetrySettings, s source) (*Follower, error) {
	m, err := newMetrics(set)
	if err != nil {
		return nil, err
	}
	return &Follower{cfg: cfg, index: index, log: set.Logger, metrics: m, source: s, cursor: newCursor(cfg.Overlap), warm: make(chan struct{})}, nil
}

// Start begins to follow. It waits for the warm start, but not for long, and not for a store that is
// away: then the links come when it is back. It never fails because of the store.
func (f *Follower) Start(ctx context.Context) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	f.done.Go(func() { f.run(run) })
	wait := time.NewTimer(f.cfg.WarmStart.MaxWait)
	defer wait.Stop()
	select {
	case <-f.warm:
	case <-wait.C:
		f.log.Info("warm start goes on behind the Collector's work", zap.Duration("waited", f.cfg.WarmStart.MaxWait))
	case <-ctx.Done():
	}
	return nil
}

// Stop ends following, also where it was never started.
func (f *Follower) Stop() error {
	if f.cancel != nil {
		f.cancel()
		f.done.Wait()
	}
	if err := f.metrics.stop(); err != nil {
		return fmt.Errorf("stop metrics: %w", err)
	}
	if err := f.source.close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// run looks at the store until ctx ends. Whether it is away is said once, and once that it is back.
func (f *Follower) run(ctx context.Context) {
	away := &backoff.ExponentialBackOff{
		InitialInterval: min(200*time.Millisecond, f.cfg.MaxBackoff), RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: f.cfg.MaxBackoff,
	}
	away.Reset()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for failed, warm := false, false; ; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		begun := time.Now()
		told, err := f.look(ctx)
		if ctx.Err() != nil {
			return
		}
		f.metrics.looked(ctx, time.Since(begun), told, err)
		switch {
		case notYet(err) && !failed:
			f.log.Info("the store has no links yet; whoever writes them makes the tables", zap.Error(err))
		case err != nil && !failed:
			f.log.Warn("links of other replicas cannot be read; going on with what passes through, and trying again", zap.Error(err))
		case err == nil && (failed || !warm):
			f.log.Info("links are shared", zap.Int64("read", told.all()), zap.Int64("new", told.fresh), zap.Duration("took", time.Since(begun)))
		}
		failed, warm = err != nil, warm || err == nil
		f.once()
		if failed {
			timer.Reset(away.NextBackOff())
			continue
		}
		away.Reset()
		timer.Reset(jitter(f.cfg.Interval))
	}
}

// once ends the wait of Start.
func (f *Follower) once() {
	select {
	case <-f.warm:
	default:
		close(f.warm)
	}
}

// jitter moves an interval by up to a fifth.
func jitter(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1)
}
