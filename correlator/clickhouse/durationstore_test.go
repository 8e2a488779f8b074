package clickhouse_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

// The store and memory know the same of what steps took, whatever is filed twice, and by what had ended.
func TestDurationStore(t *testing.T) {
	p, _, conn := emptyStore(t)
	now := time.Now().Truncate(time.Millisecond)
	var steps []correlator.CompletedStep
	for i := range 200 {
		ended := now.Add(-time.Duration(i) * time.Hour)
		steps = append(steps,
			correlator.CompletedStep{Step: "job:provision", Allocation: fmt.Sprintf("a-%d", i), Part: "it's/1", Took: time.Duration(i+1) * time.Second, Ended: ended.UnixNano()},
			correlator.CompletedStep{Step: "outbox.publish", Allocation: "a-1", Part: fmt.Sprintf("o-%d", i), Took: time.Millisecond, Ended: ended.Add(-correlator.Lately).UnixNano()})
	}
	for name, d := range map[string]live.DurationStore{"store": clickhouse.New(conn, p), "memory": &memory.DurationStore{}} {
		must(t, d.AddDurations(t.Context(), nil))
		for range 2 {
			must(t, d.AddDurations(t.Context(), steps))
		}
		for _, c := range []struct {
			asOf int64
			step string
			want time.Duration
			n    int
		}{
			{0, "job:provision", 198 * time.Second, 200},
			{now.Add(-100 * time.Hour).UnixNano(), "job:provision", 199 * time.Second, 100}, // the older half
			{0, "outbox.publish", 0, 0},                                                     // too long ago
			{now.Add(-correlator.Lately).UnixNano(), "outbox.publish", time.Millisecond, 200},
			{0, "nothing", 0, 0},
		} {
			took, err := d.Durations(t.Context(), c.asOf)
			must(t, err)
			if got, n := took.P99(c.step); got != c.want || n != c.n {
				t.Errorf("%s: %s as of %d: %s of %d, want %s of %d", name, c.step, c.asOf, got, n, c.want, c.n)
			}
		}
	}
}

// Who asks the store for a verdict gets one that knows what such steps took.
func TestAVerdictKnowsWhatStepsTook(t *testing.T) {
	p, dsn, conn := emptyStore(t)
	records, err := story.Parse(`
10:00:00 operator allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:00 operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:05:00 operator heartbeat component=operator
`)
	must(t, err)
	fill(t, dsn, records, true)
	asOf := story.Day.Add(10*time.Hour + 6*time.Minute).UnixNano()
	for _, known := range []bool{false, true} {
		store := clickhouse.New(conn, p)
		if known {
			var steps []correlator.CompletedStep
			for i := range 40 {
				steps = append(steps, correlator.CompletedStep{
					Step: "state:provisioning", Allocation: fmt.Sprintf("b-%d", i), Part: "e", Took: 20 * time.Second, Ended: asOf - int64(time.Hour) + int64(i),
				})
			}
			must(t, store.AddDurations(t.Context(), steps))
		}
		a, err := (&query.Service{Store: store, Profile: p, Rules: rules.All()}).Verdict(t.Context(), "a-1", asOf)
		must(t, err)
		if late := a.Verdict.Outcome == correlator.Attributed && a.Verdict.Faults[0].Layer == "workflow"; late != known {
			t.Errorf("with history %v: %s: %s", known, a.Verdict.Outcome, a.Verdict.Explanation)
		}
	}
}

// emptyStore is a store of a test's own with its tables made, and the default profile.
func emptyStore(t *testing.T) (*profile.Profile, string, driver.Conn) {
	t.Helper()
	p, err := profile.Load("")
	must(t, err)
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	return p, dsn, conn
}
