package live

import (
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// What was observed is here when it has had as long as records take lately.
func TestWatermark(t *testing.T) {
	p, now := newWatermark(), time.Unix(1_000_000, 0)
	observed := func(ago time.Duration) int64 { return now.Add(-ago).UnixNano() }
	look := func(after, silent time.Duration, arrived ...time.Duration) int64 {
		now = now.Add(after)
		for _, ago := range arrived {
			p.note(now, []*record.Record{{Observed: observed(ago)}})
		}
		p.advance(now, observed(silent))
		return p.at
	}
	if got := look(0, 0); got != 1 {
		t.Errorf("something was here before anything was: %d", got)
	}
	first := now.UnixNano()
	if got := look(leastUnderWay, 0); got != first {
		t.Errorf("the watermark is at %d, want %d", got, first)
	}
	second := now.UnixNano()
	// A record that took four seconds: from now on nothing is settled before four seconds are over.
	if got := look(time.Second, 0, 4*time.Second); got != first {
		t.Errorf("the watermark is at %d, want %d", got, first)
	}
	if got := look(3*time.Second, 0); got < second {
		t.Errorf("the watermark is at %d, want %d at least", got, second)
	}
	// One from the disk of a Collector that was away for a night holds nothing up for longer than the bound.
	look(time.Second, 0, 10*time.Hour)
	night := now.UnixNano()
	if got := look(mostUnderWay, 0); got != night {
		t.Errorf("the watermark is at %d, want %d", got, night)
	}
	// Nothing comes any more: all that was observed is here, in the end.
	newest := observed(0)
	look(mostUnderWay, mostUnderWay)
	if got := look(mostUnderWay, 2*mostUnderWay); got != newest {
		t.Errorf("the watermark is at %d, want %d", got, newest)
	}
}

// While the store is away nothing arrives, and what was under way still is; then queues are emptied in no order, for two minutes at most.
func TestTheWatermarkWaitsForAnOutage(t *testing.T) {
	p, now := newWatermark(), time.Unix(1_000_000, 0)
	observed := func(ago time.Duration) int64 { return now.Add(-ago).UnixNano() }
	p.advance(now, observed(0))
	now = now.Add(leastUnderWay)
	p.advance(now, observed(0))
	before := p.at
	for range 60 {
		now = now.Add(time.Second)
		p.hold(now)
		p.advance(now, before+1)
	}
	if p.at != before {
		t.Errorf("while the store was away the watermark moved by %s", time.Duration(p.at-before))
	}
	for range 15 {
		now = now.Add(time.Second)
		p.note(now, []*record.Record{{Observed: observed(50 * time.Second)}, {Observed: observed(0)}})
		p.advance(now, observed(0))
	}
	if p.at > before+1 {
		t.Errorf("while late records came the watermark moved by %s", time.Duration(p.at-before))
	}
	for range 300 {
		now = now.Add(time.Second)
		p.note(now, []*record.Record{{Observed: observed(50 * time.Second)}})
		p.advance(now, observed(0))
	}
	if p.at < observed(mostUnderWay+2*time.Second) {
		t.Errorf("a Collector whose clock is behind holds the watermark for ever: %s", time.Duration(observed(0)-p.at))
	}
}

// The result of a step comes after a record that was observed later, as from another emitter: nothing is said in between.
func TestAResultThatIsStillUnderWay(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	arrive := func(text string) {
		for _, r := range parse(t, text) {
			r.Observed = r.Time
			st.take(g.clock, r)
		}
	}
	g.clock = story.Day.Add(10*time.Hour + 2*time.Second)
	arrive(begins)
	g.settle(t)
	g.clock = story.Day.Add(10*time.Hour + 10*time.Minute)
	arrive("10:09:59 node-agent heartbeat component=node-agent node_id=n-7\n")
	g.step(t.Context())
	g.clock = g.clock.Add(g.cfg.Interval)
	g.step(t.Context())
	arrive("10:00:20 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=dispatched\n10:00:25 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=succeeded\n10:00:26 provisioner allocation.state allocation_id=a-1 from=provisioning to=active\n")
	g.settle(t)
	for _, said := range g.history(t) {
		if strings.Contains(said, "undetermined") || strings.Contains(said, "attributed") {
			t.Errorf("said %q", g.history(t))
		}
	}
}
