package live

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
)

// Run works on a clock of its own, and leaves nothing behind.
func TestRun(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := newStore(t)
	st.take(time.Now(), parse(t, begins)...)
	cfg := DefaultConfig()
	cfg.Interval = 10 * time.Millisecond
	s := New(cfg, Sources{Reader: st, History: st, Feed: st, Membership: st, Backlog: st, Durations: st}, st.profile, rules.All(), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if list, _ := st.History(ctx, "a-1", 10); len(list) == 1 {
			break
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatal("nothing was said")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A rule that panics is left out of a judgement, counted, and the others go on.
func TestARuleThatPanicsIsCounted(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	all := rules.All()
	all[0].Find = nil // called, it panics
	reg := prometheus.NewRegistry()
	g.Service, g.reg = New(g.cfg, Sources{Reader: st, History: st, Feed: st, Membership: st, Backlog: st, Durations: st}, st.profile, all, slog.New(slog.DiscardHandler), reg), reg
	g.now = func() time.Time { return g.clock }
	g.follow = newFollower(st, g.clock.Add(-time.Minute))
	g.step(t.Context())
	st.take(g.clock, parse(t, begins)...)
	st.take(g.clock, parse(t, fails)...)
	g.settle(t)
	if got := g.value(t, "rule_panics_total"); got != 1 {
		t.Errorf("%v panics", got)
	}
	list, _ := st.History(t.Context(), "a-1", 10)
	if len(list) == 0 || !slices.ContainsFunc(list[len(list)-1].Assessment.Verdict.Findings, func(f correlator.Finding) bool { return f.Kind == "rule_disabled" }) {
		t.Errorf("%+v", list)
	}
}
