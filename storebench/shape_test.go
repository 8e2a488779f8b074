package storebench

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func small() Shape {
	return Shape{Seed: 1, Rows: 20_000, Start: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
}

// The records have the shape that the figures are told for, and come in the order of their arrival.
func TestShape(t *testing.T) {
	rows, nodes, spans := 0, 0, 0
	var before time.Time
	for b := range small().Batches(1000) {
		if b.At.Before(before) {
			t.Fatalf("%s after %s", b.At, before)
		}
		before = b.At
		rows += b.Rows()
		spans += b.Spans.SpanCount()
		for _, rl := range b.Logs.ResourceLogs().All() {
			if _, ok := rl.Resource().Attributes().Get("node_id"); ok {
				nodes += rl.ScopeLogs().At(0).LogRecords().Len()
			}
		}
	}
	t.Logf("%d records, %d of nodes, %d spans", rows, nodes, spans)
	if rows < 18_000 || rows > 22_000 {
		t.Errorf("%d records", rows)
	}
	if share := float64(nodes) / float64(rows); share < 0.55 || share > 0.65 {
		t.Errorf("share of node lines %.2f", share)
	}
	if spans == 0 {
		t.Error("no spans")
	}
}

// of is a share in percent.
func of(part, whole int) float64 { return 100 * float64(part) / float64(whole) }

// One record in a hundred comes five minutes to two days after its time, all others within seconds; as many allocations
// as are told of give off a hundred records each.
func TestLateRecordsAndAllocations(t *testing.T) {
	shape := small()
	shape.Rows = 200_000
	p := newPlatform(shape)
	rows, late := 0, 0
	allocations := map[string]int{}
	var before int64
	for {
		at, e, a, ok := p.next()
		if !ok {
			break
		}
		if at < before {
			t.Fatalf("%d arrives after %d", at, before)
		}
		before = at
		rows++
		allocations[a.id]++
		switch delay := time.Duration(at - e.at); {
		case delay < 200*time.Millisecond || delay > 49*time.Hour:
			t.Fatalf("a record arrives %s after its time", delay)
		case delay >= 5*time.Minute:
			late++
		}
	}
	t.Logf("%d records, %.2f %% late, %d allocations", rows, of(late, rows), len(allocations))
	if share := of(late, rows); share < 0.8 || share > 1.2 {
		t.Errorf("%.2f %% of the records are late", share)
	}
	if len(allocations) != 2000 || shape.Allocations() != 2000 {
		t.Errorf("%d allocations, %d told", len(allocations), shape.Allocations())
	}
	for id, n := range allocations {
		if n < 40 || n > 600 {
			t.Errorf("%s has %d records", id, n)
		}
	}
}

// At the size of the figures: a hundred thousand allocations over twelve days, some asked for twenty at a time, some held
// for days.
func TestBurstsAndLongLives(t *testing.T) {
	shape := small()
	shape.Rows = 10_000_000
	begins := shape.begins()
	if len(begins) != 100_000 || shape.Span() != 12*24*time.Hour {
		t.Errorf("%d allocations over %s", len(begins), shape.Span())
	}
	// Three begin in any half minute; eighteen at once are a burst.
	inBurst, counted := 0, 0
	for i := range begins {
		for last := i + 17; last < len(begins) && begins[last]-begins[i] <= int64(30*time.Second); last++ {
			inBurst += last + 1 - max(counted, i)
			counted = last + 1
		}
	}
	p := newPlatform(shape)
	lives := map[*allocation]time.Duration{}
	for range 100_000 {
		_, _, a, _ := p.next()
		lives[a] = time.Duration(a.end - a.start)
	}
	days, hours := 0, 0
	for _, life := range lives {
		if life > 48*time.Hour {
			days++
		}
		if life < 6*time.Hour {
			hours++
		}
	}
	t.Logf("%.0f %% begin in bursts; of %d allocations %.0f %% are held for less than six hours, %.0f %% for more than two days",
		of(inBurst, len(begins)), len(lives), of(hours, len(lives)), of(days, len(lives)))
	if share := of(inBurst, len(begins)); share < 15 || share > 35 {
		t.Errorf("%.1f %% of the allocations begin in bursts", share)
	}
	if share := of(days, len(lives)); share < 5 || share > 15 {
		t.Errorf("%.1f %% of %d allocations are held for more than two days", share, len(lives))
	}
	if share := of(hours, len(lives)); share < 40 || share > 60 {
		t.Errorf("%.1f %% of %d allocations are held for less than six hours", share, len(lives))
	}
}

// The same seed gives the same records, to the byte, and another seed others.
func TestSeed(t *testing.T) {
	digest := func(seed uint64) string {
		shape := small()
		shape.Seed, shape.Rows = seed, 3000
		h := sha256.New()
		for b := range shape.Batches(500) {
			logs, err := (&plog.ProtoMarshaler{}).MarshalLogs(b.Logs)
			if err != nil {
				t.Fatal(err)
			}
			spans, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(b.Spans)
			if err != nil {
				t.Fatal(err)
			}
			h.Write(logs)
			h.Write(spans)
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	if one, again := digest(1), digest(1); one != again {
		t.Errorf("seed 1 gives %s, then %s", one, again)
	}
	if digest(1) == digest(2) {
		t.Error("seeds 1 and 2 give the same records")
	}
}

func BenchmarkBatches(b *testing.B) {
	for b.Loop() {
		for range small().Batches(1000) { //nolint:revive // it is their making that is measured
		}
	}
}
