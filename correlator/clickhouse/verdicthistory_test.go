package clickhouse_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

const queued = `
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-1 type=prepare to=queued
10:00:00 provisioner allocation.state allocation_id=a-2 from=provisioning to=active
`

// told is what judging a story at some moments would write.
func told(t *testing.T, p *profile.Profile, moments ...time.Duration) []correlator.Revision {
	t.Helper()
	before := map[string]*correlator.Assessment{}
	var out []correlator.Revision
	for _, m := range moments {
		records, err := story.Parse(queued)
		must(t, err)
		at := story.Day.Add(m).UnixNano()
		for _, s := range query.Assess(correlator.NewDataset(records, nil, p, correlator.AsOf{Now: at}), rules.All()) {
			if r, ok := correlator.Revise(before[s.ID], s, nil); ok {
				r.JudgedAt, r.HighWater = correlator.Time(at), correlator.Time(at)
				out = append(out, r)
				before[s.ID] = &s
			}
		}
	}
	return out
}

// verdicts are kept and read again.
type verdicts interface {
	live.VerdictHistory
	Assessments(ctx context.Context, asOf int64) ([]correlator.Assessment, int, error)
	History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error)
}

// The store and memory keep the same, whatever is written twice.
func TestVerdictHistory(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	said := told(t, p, 10*time.Hour+30*time.Second, 10*time.Hour+2*time.Minute, 10*time.Hour+3*time.Minute, 11*time.Hour)
	if len(said) < 3 || said[2].Why != correlator.BecauseTime {
		t.Fatalf("%d revisions: %+v", len(said), said)
	}
	for name, l := range map[string]verdicts{"store": clickhouse.New(conn, p), "memory": &memory.VerdictHistory{}} {
		for range 2 {
			must(t, l.Write(t.Context(), said))
		}
		list, examined, err := l.Assessments(t.Context(), 0)
		must(t, err)
		if len(list) != 1 || list[0].ID != "a-1" || list[0].Stuck == nil || examined != 2 {
			t.Errorf("%s: %d of %d: %+v", name, len(list), examined, list)
		}
		list, examined, err = l.Assessments(t.Context(), story.Day.Add(10*time.Hour+time.Minute).UnixNano())
		must(t, err)
		if examined != 2 {
			t.Errorf("%s: as of a minute past: %d of %d", name, len(list), examined)
		}
		for _, s := range list {
			if s.Stuck != nil {
				t.Errorf("%s: nothing was stuck by then: %+v", name, s)
			}
		}
		history, err := l.History(t.Context(), "a-1", 100)
		must(t, err)
		var want []correlator.Revision
		for _, r := range said {
			if r.ID == "a-1" {
				want = append(want, r)
			}
		}
		if d := cmp.Diff(want, history); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if newest, err := l.History(t.Context(), "a-1", 1); err != nil || len(newest) != 1 || newest[0].JudgedAt != want[len(want)-1].JudgedAt {
			t.Errorf("%s: %v %+v", name, err, newest)
		}
		last, err := l.Last(t.Context(), []string{"a-1", "it's nobody"})
		must(t, err)
		if d := cmp.Diff(map[string]correlator.Revision{"a-1": want[len(want)-1]}, last); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if none, err := l.History(t.Context(), "nobody", 10); err != nil || len(none) != 0 {
			t.Errorf("%s: %v %v", name, none, err)
		}
	}
}
