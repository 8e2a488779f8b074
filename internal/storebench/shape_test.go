package storebench

import (
	"testing"
	"time"
)

func small() Shape {
	return Shape{Seed: 1, Rows: 20_000, Start: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
}

// The records have the shape that the figures are told for, and come in the order of their arrival.
func TestShape(t *testing.T) {
	rows, machines, spans := 0, 0, 0
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
				machines += rl.ScopeLogs().At(0).LogRecords().Len()
			}
		}
	}
	t.Logf("%d records, %d of machines, %d spans", rows, machines, spans)
	if rows < 18_000 || rows > 22_000 {
		t.Errorf("%d records", rows)
	}
	if share := float64(machines) / float64(rows); share < 0.55 || share > 0.65 {
		t.Errorf("share of machine lines %.2f", share)
	}
	if spans == 0 {
		t.Error("no spans")
	}
}

func BenchmarkBatches(b *testing.B) {
	for b.Loop() {
		for range small().Batches(1000) { //nolint:revive // it is their making that is measured
		}
	}
}
