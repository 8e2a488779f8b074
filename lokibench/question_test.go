package lokibench

import (
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/lokitest"
)

// Each way finds every line of an allocation, in a Loki that has written its chunks, with a label of buckets and without; the ways by our
// index read less than the search without it.
func TestWaysFindEveryLine(t *testing.T) {
	loki := lokitest.Start(t, lokitest.Settings{Tenants: true, Limits: lokitest.NoRates()})
	start := time.Now().Add(-13 * time.Hour)
	lines := Shape{Seed: 3, Lines: 2000, Each: 100, Start: start, Span: 12 * time.Hour}.lines()
	sample := known(lines, 5)
	for _, y := range []layout{{name: "chunks of two hours", tenant: "age", age: 2 * time.Hour}, {name: "buckets", tenant: "buckets", age: 4 * time.Hour, buckets: 3}} {
		if err := y.fill(t.Context(), loki, lines, 500); err != nil {
			t.Fatal(y.name, err)
		}
		whole := 0.0
		for _, w := range ways(start) {
			c, err := w.ask(t.Context(), loki.For(y.tenant), y, sample)
			if err != nil {
				t.Fatal(y.name, w.name, err)
			}
			if whole == 0 {
				whole = c.mean()
			} else if c.mean() >= whole {
				t.Errorf("%s: %s reads %.0f bytes, the search without a range %.0f", y.name, w.name, c.mean(), whole)
			}
		}
	}
}
