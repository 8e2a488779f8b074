package lokibench

import (
	"fmt"
	"testing"
	"time"
)

// The same shape gives the same lines, oldest first, and no two that Loki would know for one.
func TestShape(t *testing.T) {
	s := Shape{Seed: 1, Lines: 20_000, Each: 100, Start: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Span: 48 * time.Hour}
	lines, again := s.lines(), s.lines()
	seen := map[string]bool{}
	for i, l := range lines {
		if again[i] != l {
			t.Fatalf("line %d: %v, then %v", i, l, again[i])
		}
		if i > 0 && l.at < lines[i-1].at || l.at < s.Start.UnixNano() || l.at > s.Start.Add(s.Span).UnixNano() {
			t.Fatalf("line %d is out of order or of the span", i)
		}
		one := fmt.Sprint(l.at, l.allocation, l.emitter)
		if seen[one] {
			t.Fatalf("line %d is there twice", i)
		}
		seen[one] = true
	}
	if ld := logs(lines[:1000], layout{}); ld.LogRecordCount() != 1000 {
		t.Errorf("%d records of 1000 lines", ld.LogRecordCount())
	}
	for _, a := range known(lines, 5) {
		if len(a.moments) == 0 || a.to <= a.from {
			t.Errorf("%+v", a)
		}
	}
}
