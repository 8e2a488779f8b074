package clickhouse_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

const beginning = `
10:00:00 provisioner allocation.state allocation_id=a-1 to=requested
10:00:00 provisioner node.assigned allocation_id=a-1 node_id=n-7
10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=queued
`

const ending = `
10:00:03 ingress-proxy error tls.client.subject=CN=n-7 | client certificate of CN=n-7 refused: x509: certificate has expired or is not yet valid
10:01:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=expired
`

func parsed(t *testing.T, text string) []*record.Record {
	t.Helper()
	records, err := story.Parse(text)
	must(t, err)
	return records
}

// A feed gives what the store took, each record once, whatever the size of a page.
func TestArrivals(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, parsed(t, beginning), false)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	l := clickhouse.New(conn, p)
	read := func(mark live.Mark, most int) (keys []string, end live.Mark) {
		for {
			found, next, err := l.Arrivals(t.Context(), mark, most)
			must(t, err)
			if len(found) == 0 {
				return keys, mark
			}
			for _, r := range found {
				keys = append(keys, r.Key())
			}
			mark = next
		}
	}
	all, end := read(live.Mark{}, 100)
	one, _ := read(live.Mark{}, 1)
	if d := cmp.Diff(all, one); d != "" || len(all) != 3 {
		t.Errorf("%d records: %s", len(all), d)
	}
	marks, err := l.Marks(t.Context(), 0, end.Ingested)
	must(t, err)
	if len(marks) != 3 {
		t.Errorf("%d marks", len(marks))
	}
	late, err := l.Fetch(t.Context(), marks[1:])
	must(t, err)
	if len(late) != 2 || !slices.Contains(marks[1:], live.MarkOf(late[0])) || !slices.Contains(marks[1:], live.MarkOf(late[1])) {
		t.Errorf("%d of %v", len(late), marks[1:])
	}
	fill(t, dsn, parsed(t, ending), false)
	if more, _ := read(end, 1); len(more) != 2 {
		t.Errorf("%d more records", len(more))
	}
}

func TestRoster(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	conn, err := schema.Open(t.Context(), embeddedtest.DSN(t))
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	l := clickhouse.New(conn, p)
	here := func(lease time.Duration, want ...string) {
		t.Helper()
		got, err := l.Live(t.Context(), lease)
		must(t, err)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	here(time.Minute)
	for _, r := range []string{"r-2", "r-1", "r-2"} {
		must(t, l.Renew(t.Context(), r, 0))
	}
	here(time.Minute, "r-1", "r-2")
	must(t, l.Leave(t.Context(), "r-1", 0))
	here(time.Minute, "r-2")
	time.Sleep(20 * time.Millisecond)
	here(10 * time.Millisecond)
	must(t, l.Renew(t.Context(), "r-1", 0))
	here(time.Minute, "r-1", "r-2")

	judged := func(want int64) {
		t.Helper()
		got, err := l.Judged(t.Context(), time.Minute)
		must(t, err)
		if got != want {
			t.Errorf("judged until %d, want %d", got, want)
		}
	}
	judged(0) // nobody said so
	must(t, l.Renew(t.Context(), "r-1", 1_800_000_000_000_000_007))
	must(t, l.Renew(t.Context(), "r-2", 1_800_000_000_000_000_005))
	judged(1_800_000_000_000_000_005)
	must(t, l.Leave(t.Context(), "r-2", 1_800_000_000_000_000_006)) // where it came to counts, though it is gone
	judged(1_800_000_000_000_000_006)
}

// Who begins takes over what goes on, and what was heard of since a moment though it is at rest.
func TestBacklog(t *testing.T) {
	p, dsn, conn := emptyStore(t)
	l := clickhouse.New(conn, p)
	say := func(id string, states ...string) {
		var b strings.Builder
		for i, to := range states {
			fmt.Fprintf(&b, "10:00:%02d provisioner allocation.state allocation_id=%s to=%s\n", i, id, to)
		}
		fill(t, dsn, parsed(t, b.String()), true)
	}
	say("goes-on", "requested", "reserved")
	say("long-at-rest", "requested", "active")
	now, err := l.Now(t.Context())
	must(t, err)
	time.Sleep(1100 * time.Millisecond)
	since := now.Add(time.Second).UnixNano()
	say("lately-at-rest", "requested", "failed", "released")
	for _, c := range []struct {
		since int64
		most  int
		want  []string
	}{{0, 10, []string{"goes-on"}}, {since, 10, []string{"goes-on", "lately-at-rest"}}, {since, 1, []string{"lately-at-rest"}}} {
		got, err := l.Backlog(t.Context(), c.since, c.most)
		must(t, err)
		slices.Sort(got)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("since %d, at most %d: %s", c.since, c.most, d)
		}
	}
}

// Records go in at one end and the changed verdict stands in the store, with two replicas at work.
func TestJudgedAsTheyArrive(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	l := clickhouse.New(conn, p)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	for _, replica := range []string{"r-1", "r-2"} {
		cfg := live.DefaultConfig()
		cfg.Replica, cfg.Interval = replica, 100*time.Millisecond
		s := live.New(cfg, live.Sources{Reader: l, History: l, Feed: l, Membership: l, Backlog: l}, p, rules.All(), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		go func() { done <- s.Run(ctx) }()
	}
	defer func() {
		stop()
		for range 2 {
			must(t, <-done)
		}
	}()
	until := func(outcome string) correlator.Revision {
		t.Helper()
		for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
			said, err := l.Last(t.Context(), []string{"a-1"})
			must(t, err)
			if r, ok := said["a-1"]; ok && r.Assessment.Verdict.Outcome == outcome {
				t.Logf("%s after %s", outcome, time.Since(begun).Round(time.Millisecond))
				return r
			}
		}
		t.Fatalf("the verdict never was %s", outcome)
		return correlator.Revision{}
	}
	fill(t, dsn, parsed(t, beginning), true)
	until(correlator.None)
	fill(t, dsn, parsed(t, ending), true)
	r := until(correlator.Attributed)
	if r.Assessment.Verdict.Faults[0].Layer != "cert" || len(r.ChangedBy) == 0 || r.HighWater == 0 {
		t.Errorf("%+v", r)
	}
	list, examined, err := l.Assessments(t.Context(), 0)
	must(t, err)
	if len(list) != 1 || examined != 1 {
		t.Errorf("%d of %d", len(list), examined)
	}
}
