package fleet

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/overview"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/profile"
)

// Board is where allocations stand; overview.Overview is one.
type Board interface {
	Each(func(overview.Standing) bool) (ok bool)
	Health() overview.Health
}

// Heard says how sources and layers are heard; query.Service does.
type Heard interface {
	Sources(context.Context) (query.SourceList, error)
	Layers(context.Context) (query.LayerList, error)
}

// How often is counted. A scrape shows the last count: it waits for nothing.
const (
	countEvery = 5 * time.Second
	askEvery   = 15 * time.Second
	askWithin  = 10 * time.Second
	// least is how much of the time is left to others, where there is much to count.
	least = 20
	// outdated is how old what was heard of sources may be and still be shown.
	outdated = 5 * time.Minute
)

// Fleet counts. It is a prometheus.Collector, and the overview's watcher.
type Fleet struct {
	*changes
	board   Board
	heard   Heard
	profile *profile.Profile
	rules   map[string]bool // those that blame the provider
	page    string
	log     *slog.Logger
	now     func() time.Time

	providers, view, sources *names // Run's goroutine alone touches them

	mu             sync.Mutex
	counted, asked []prometheus.Metric
	askedAt        time.Time
}

var (
	_ prometheus.Collector = (*Fleet)(nil)
	_ overview.Watcher     = (*Fleet)(nil)
)

// New gives a fleet; Run counts. page is the URL under which people find the page, without a path.
func New(board Board, heard Heard, p *profile.Profile, rules []correlator.Rule, page string, log *slog.Logger) *Fleet {
	f := &Fleet{
		changes: newChanges(), board: board, heard: heard, profile: p, rules: map[string]bool{}, page: page, log: log, now: time.Now,
		providers: newNames(mostProviders), view: newNames(mostProjections), sources: newNames(mostSources),
	}
	for _, r := range rules {
		if r.Layer == providerLayer {
			f.rules[r.ID] = true
		}
	}
	return f
}

// Run counts until ctx ends.
func (f *Fleet) Run(ctx context.Context) error {
	failed := false
	for {
		begun := f.now()
		f.count()
		took := f.now().Sub(begun) // not the wait for the store below: that takes nothing from others
		if begun.Sub(f.lastAsked()) >= askEvery {
			err := f.ask(ctx)
			if err != nil && !failed && ctx.Err() == nil {
				f.log.Warn("metrics of sources and layers wait for the store", "error", err)
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(countEvery, least*took)):
		}
	}
}

func (f *Fleet) lastAsked() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.askedAt
}

// Describe implements prometheus.Collector.
func (f *Fleet) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		out <- d.desc
	}
	f.changes.Describe(out)
}

// Collect implements prometheus.Collector.
func (f *Fleet) Collect(out chan<- prometheus.Metric) {
	f.mu.Lock()
	counted, asked := f.counted, f.asked
	if f.now().Sub(f.askedAt) > outdated {
		asked = nil // nobody knows
	}
	f.mu.Unlock()
	for _, list := range [][]prometheus.Metric{counted, asked, f.health()} {
		for _, m := range list {
			out <- m
		}
	}
	f.changes.Collect(out)
}

// health is told of as it is: it costs nothing.
func (f *Fleet) health() []prometheus.Metric {
	h := f.board.Health()
	keepsUp := 0.0
	if h.KeepsUp {
		keepsUp = 1
	}
	return []prometheus.Metric{
		lookAge.of(h.Looked.Seconds()), judgingBehind.of(h.Behind.Seconds()), judgingKeepsUp.of(keepsUp), pageInfo.of(1, f.page),
	}
}
