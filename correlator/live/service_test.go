package live

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// stage is a service at a store, with a clock that the test moves.
type stage struct {
	*Service
	store *store
	clock time.Time
	reg   *prometheus.Registry
}

// value is a metric's, summed over its labels.
func (g *stage) value(t *testing.T, name string) (sum float64) {
	t.Helper()
	families, err := g.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "faultline_judging_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func newStage(t *testing.T, st *store, replica string) *stage {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Replica, cfg.Share = replica, 1
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	g := &stage{store: st, clock: story.Day.Add(12 * time.Hour), reg: prometheus.NewRegistry()}
	g.Service = New(cfg, Sources{Reader: st, History: st, Feed: st, Membership: st, Backlog: st, Durations: st}, st.profile, rules.All(), slog.New(slog.DiscardHandler), g.reg)
	g.now = func() time.Time { return g.clock }
	g.follow = newFollower(st, g.clock.Add(-time.Minute))
	return g
}

// settle steps until nothing waits any more; stories are read in between.
func (g *stage) settle(t *testing.T) {
	t.Helper()
	for range 1000 {
		g.step(t.Context())
		for id, ok := g.loader.next(); ok; id, ok = g.loader.next() {
			s, err := g.store.RecordSet(t.Context(), id, 0)
			if err != nil {
				t.Fatal(err)
			}
			g.loader.read = append(g.loader.read, loaded{id: id, records: s})
		}
		g.clock = g.clock.Add(g.cfg.Interval)
		waits := false
		for _, w := range g.published {
			waits = waits || w.waits || w.invalidated != 0
		}
		if g.queue.len() == 0 && g.loader.behind() == 0 && !waits {
			return
		}
	}
	t.Fatal("it never settles")
}

func newStore(t *testing.T) *store {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	return &store{VerdictHistory: &memory.VerdictHistory{}, profile: p}
}

// readerOnly is a store that keeps no verdicts.
type readerOnly struct {
	query.Unsupported
	query.Reader
}

// What is kept in the end is what judging the whole story says, for every story: read where nobody said "requested", and
// left unread where the store says that nothing came before.
func TestWhatIsKeptIsWhatTheWholeStorySays(t *testing.T) {
	t.Run("read", func(t *testing.T) { testWhatIsKept(t, func(*stage) {}) })
	t.Run("begun here", func(t *testing.T) {
		testWhatIsKept(t, func(g *stage) { g.from.StartTimes, g.Service.began = g.store, time.Unix(0, 0) })
	})
}

func testWhatIsKept(t *testing.T, set func(*stage)) {
	t.Helper()
	all, err := story.Load("../testdata/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		st := newStore(t)
		g := newStage(t, st, "r-1")
		set(g)
		for chunk := range slices.Chunk(one.Records, 7) {
			g.clock = g.clock.Add(time.Second)
			st.take(g.clock, chunk...)
			g.settle(t)
		}
		g.clock = g.clock.Add(g.cfg.Sweep) // a deadline that passed while others spoke is seen by the sweep
		g.settle(t)
		assessments, err := (&query.Service{Store: readerOnly{Reader: st}, Profile: st.profile, Rules: rules.All()}).JudgeLatest(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range assessments {
			said, err := st.Last(t.Context(), []string{want.ID})
			if err != nil {
				t.Fatal(err)
			}
			got := said[want.ID].Assessment
			if d := gocmp.Diff(want.Fingerprint(), got.Fingerprint()); d != "" {
				t.Errorf("%s: %s: the whole story (-) and what was kept (+):\n%s", one.Name, want.ID, d)
			}
		}
	}
}

const begins = `
10:00:00 provisioner allocation.state allocation_id=a-1 to=requested
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:00 provisioner node.assigned allocation_id=a-1 node_id=n-7
10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=queued
`

const fails = `
10:00:03 ingress-proxy error tls.client.subject=CN=n-7 | client certificate of CN=n-7 refused: x509: certificate has expired or is not yet valid
10:00:51 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=expired
`

func parse(t *testing.T, text string) []*record.Record {
	t.Helper()
	records, err := story.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func (g *stage) history(t *testing.T) (out []string) {
	t.Helper()
	list, err := g.store.History(t.Context(), "a-1", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		out = append(out, fmt.Sprintf("%s %s %d", r.Why, r.Assessment.Verdict.Outcome, len(r.ChangedBy)))
	}
	return out
}

// A verdict is written where it changes and only there, with what changed it.
func TestWrittenOnChange(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	g.settle(t)
	st.take(g.clock, parse(t, begins)...)
	g.settle(t)
	st.take(g.clock, parse(t, "10:00:02 node-agent info allocation_id=a-1 | nothing new")...)
	g.settle(t)
	st.take(g.clock, parse(t, fails)...)
	g.settle(t)
	st.take(g.clock, parse(t, fails)...) // delivered twice
	g.settle(t)
	if d := gocmp.Diff([]string{"first none 4", "records attributed 2"}, g.history(t)); d != "" {
		t.Error(d)
	}
	list, _ := st.History(t.Context(), "a-1", 100)
	last := list[len(list)-1]
	if last.ChangedBy[0].Ref != last.Assessment.Verdict.Faults[0].Evidence[0] && last.ChangedBy[1].Ref != last.Assessment.Verdict.Faults[0].Evidence[0] {
		t.Errorf("changed by %v, proved by %v", last.ChangedBy, last.Assessment.Verdict.Faults[0].Evidence)
	}
	if last.HighWater == 0 || last.JudgedAt <= list[0].JudgedAt {
		t.Errorf("%+v", last)
	}
	if st.stories != 0 {
		t.Errorf("%d stories were read of what was followed from its beginning", st.stories)
	}
}

// Nothing arrives of an allocation, and a deadline passes.
func TestTimePasses(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	st.take(g.clock, parse(t, begins)...)
	g.settle(t)
	g.clock = g.clock.Add(10 * time.Minute)
	st.take(g.clock, parse(t, "10:09:00 db heartbeat component=db")...)
	g.settle(t)
	history := g.history(t)
	if d := gocmp.Diff([]string{"first none 4", "time undetermined 0"}, history); d != "" {
		t.Error(d)
	}
	// A sign of life of the one who owes the step makes it his.
	st.take(g.clock, parse(t, "10:09:30 node-agent heartbeat component=node-agent node_id=n-7")...)
	g.clock = g.clock.Add(time.Second)
	g.settle(t)
	if history = g.history(t); len(history) != 3 || history[2] != "records attributed 1" {
		t.Error(history)
	}
}

// A failure that belongs to nobody and comes after the trouble changes the verdict of those that it names.
func TestWhatBelongsToNobodyComesLate(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	st.take(g.clock, parse(t, begins)...)
	g.settle(t)
	late := parse(t, fails)
	st.take(g.clock, late[1])
	g.settle(t)
	st.take(g.clock, late[0])
	g.step(t.Context())
	if history := g.history(t); history[len(history)-1] != "records attributed 1" {
		t.Error(history)
	}
}

// What began before the process did is read from the store, and what was said before is not said again.
func TestARestartSaysNothingTwice(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	st.take(g.clock, parse(t, begins)...)
	g.settle(t)
	later := newStage(t, st, "r-1")
	later.clock = g.clock.Add(time.Hour)
	later.follow = newFollower(st, later.clock.Add(-time.Minute))
	later.settle(t) // adopts what goes on
	if st.stories == 0 {
		t.Error("the story was not read")
	}
	st.take(later.clock, parse(t, fails)...)
	later.settle(t)
	if d := gocmp.Diff([]string{"first none 4", "records attributed 2"}, later.history(t)); d != "" {
		t.Error(d)
	}
}

// A store that is away loses nothing.
func TestTheStoreIsAway(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	st.take(g.clock, parse(t, begins)...)
	g.settle(t)
	st.take(g.clock, parse(t, fails)...)
	st.away = true
	for range 5 {
		g.step(t.Context())
		g.clock = g.clock.Add(g.cfg.Interval)
	}
	st.away = false
	g.settle(t)
	if d := gocmp.Diff([]string{"first none 4", "records attributed 2"}, g.history(t)); d != "" {
		t.Error(d)
	}
	if got := g.value(t, "failures_total"); got != 5 {
		t.Errorf("%v failures", got)
	}
}

// Replicas share: each allocation is judged by one of them, and by another when that one is gone.
func TestReplicasShare(t *testing.T) {
	st := newStore(t)
	st.live = []string{"r-1", "r-2", "r-3"}
	stages := []*stage{newStage(t, st, "r-1"), newStage(t, st, "r-2"), newStage(t, st, "r-3")}
	for i := range 30 {
		st.take(stages[0].clock, parse(t, fmt.Sprintf("10:00:00 provisioner allocation.state allocation_id=b-%d to=requested", i))...)
	}
	judged := map[string]int{}
	for _, g := range stages {
		g.settle(t)
		if len(g.published) == 0 || len(g.published) == 30 {
			t.Errorf("%s judges %d of 30", g.cfg.Replica, len(g.published))
		}
		for id := range g.published {
			judged[id]++
		}
	}
	if len(judged) != 30 {
		t.Errorf("%d of 30 are judged", len(judged))
	}
	for id, n := range judged {
		if n != 1 {
			t.Errorf("%s is judged by %d", id, n)
		}
	}
	st.live = []string{"r-1"}
	g := stages[0]
	g.clock = g.clock.Add(time.Minute)
	g.settle(t)
	if len(g.published) != 30 {
		t.Errorf("the one that is left judges %d of 30", len(g.published))
	}
	for id := range judged {
		if list, _ := st.History(t.Context(), id, 10); len(list) != 1 {
			t.Errorf("%s: %d revisions", id, len(list))
		}
	}
}
