package live

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/internal/record"
)

// pipe is a feed that is filled from the other end.
type pipe struct {
	*store
	rows []*record.Record
}

func (p *pipe) put(at time.Time, records []*record.Record) {
	for _, r := range records {
		r.Ingested = at.UnixNano()
	}
	slices.SortFunc(records, func(a, b *record.Record) int { return compareMarks(MarkOf(a), MarkOf(b)) })
	p.rows = append(p.rows, records...)
}

func (p *pipe) Arrivals(_ context.Context, after Mark, most int) ([]*record.Record, Mark, error) {
	from, _ := slices.BinarySearchFunc(p.rows, after.Ingested, func(r *record.Record, t int64) int { return cmp.Compare(r.Ingested, t) })
	var out []*record.Record
	for _, r := range p.rows[from:] {
		m := MarkOf(r)
		if compareMarks(m, after) <= 0 {
			continue
		}
		if len(out) == most {
			break
		}
		one := *r
		out, after = append(out, &one), m
	}
	return out, after, nil
}

func (p *pipe) Marks(_ context.Context, from, to int64) (out []Mark, err error) {
	i, _ := slices.BinarySearchFunc(p.rows, from, func(r *record.Record, t int64) int { return cmp.Compare(r.Ingested, t) })
	for _, r := range p.rows[i:] {
		if r.Ingested > to {
			break
		}
		out = append(out, MarkOf(r))
	}
	return out, nil
}

func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLiveLoad simulates a minute of 10,000 live allocations at 2,000 events a second, without a store
// behind it: how much of a core following and judging take. The clock is the simulation's.
func TestLiveLoad(t *testing.T) {
	allocations, rate, seconds := 200, 100, 5
	if os.Getenv("FAULTLINE_LIVE") != "" {
		allocations, rate, seconds = 10_000, 2000, 60
	}
	p := &pipe{store: newStore(t)}
	g := newStage(t, p.store, "r-1")
	g.from.Feed, g.from.History = p, &memory.VerdictHistory{}
	g.clock = g.clock.Add(time.Hour)
	g.follow = newFollower(p, g.clock)
	w := NewWorkload()
	g.step(t.Context())
	var begun []*record.Record
	for range allocations {
		begun = append(begun, w.Begin(g.clock)...)
	}
	p.put(g.clock, begun)
	for g.step(t.Context()); g.queue.len() > 0; g.step(t.Context()) {
		g.clock = g.clock.Add(g.cfg.Interval)
	}
	if n, _ := g.set.Size(); n != allocations {
		t.Fatalf("%d of %d allocations are in the working set", n, allocations)
	}
	judged := g.value(t, "judgement_duration_seconds")
	revised := g.value(t, "revisions_total")
	used, sent, longest := time.Duration(0), 0, time.Duration(0)
	ticks := seconds * int(time.Second/g.cfg.Interval)
	for range ticks {
		var batch []*record.Record
		for len(batch) < rate*int(g.cfg.Interval)/int(time.Second) {
			batch = append(batch, w.Next(g.clock)...)
		}
		sent += len(batch)
		p.put(g.clock, batch)
		g.clock = g.clock.Add(g.cfg.Interval)
		before := cpu(t)
		g.step(t.Context())
		took := cpu(t) - before
		used, longest = used+took, max(longest, took)
	}
	judged, revised = g.value(t, "judgement_duration_seconds")-judged, g.value(t, "revisions_total")-revised
	if g.queue.len() != 0 || judged < float64(seconds) {
		t.Errorf("%d wait, %v judgements", g.queue.len(), judged)
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	_, records := g.set.Size()
	t.Logf("\n| live allocations | events/s | judgements/s | verdicts changed/s | cores | CPU a judgement, all in | longest look | records held | heap |\n|---|---|---|---|---|---|---|---|---|\n| %d | %d | %.0f | %.1f | %.2f | %s | %s | %d | %d MB |",
		allocations, sent/seconds, judged/float64(seconds), revised/float64(seconds), used.Seconds()/float64(seconds),
		(used / time.Duration(max(1, int(judged)))).Round(time.Microsecond), longest.Round(time.Millisecond), records, memory.HeapAlloc>>20)
}
