package fleet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/overview"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// board shows some allocations.
type board []overview.Standing

func (b board) Each(do func(overview.Standing) bool) bool {
	for _, s := range b {
		do(s)
	}
	return true
}

func (b board) Health() overview.Health {
	return overview.Health{Ready: true, KeepsUp: true, Looked: time.Second}
}

// heard is what is heard of sources and layers.
type heard struct {
	sources query.SourceList
	layers  query.LayerList
	err     error
	asked   int
	takes   time.Duration
}

func (h *heard) Sources(context.Context) (query.SourceList, error) {
	h.asked++
	time.Sleep(h.takes)
	return h.sources, h.err
}
func (h *heard) Layers(context.Context) (query.LayerList, error) { return h.layers, h.err }

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) correlator.Time { return correlator.Time(noon.Add(-d).UnixNano()) }

func standing(state string, age time.Duration, change ...func(*correlator.Assessment)) overview.Standing {
	since := ago(age)
	s := overview.Standing{State: &state, Since: &since, Last: since, Providers: []string{"aap"}, Outcome: correlator.None}
	if len(change) > 0 {
		a := correlator.Assessment{ID: "a", State: &state, Since: &since}
		for _, c := range change {
			c(&a)
		}
		s.Outcome, s.Assessment = a.Verdict.Outcome, &a
	}
	return s
}

func attributed(layer, rule string) func(*correlator.Assessment) {
	return func(a *correlator.Assessment) {
		a.Verdict.Outcome, a.Verdict.Faults = correlator.Attributed, []correlator.Fault{{Layer: layer, Mechanism: "m", Rule: rule}}
		a.Occurrences = []correlator.FaultOccurrence{{Layer: layer, Mechanism: "m", Rule: rule, Subject: correlator.Subject{Kind: "x", IDs: []string{"one"}}, Onset: ago(time.Minute), Last: ago(0)}}
	}
}

func overdueBy(layer string, d time.Duration) func(*correlator.Assessment) {
	return func(a *correlator.Assessment) { a.Stuck = &correlator.Stuck{Owes: layer, Deadline: ago(d)} }
}

func undecided(a *correlator.Assessment) { a.Verdict.Outcome = correlator.Undetermined }

// counted is a fleet over a board, counted once at noon, and its registry.
func counted(t *testing.T, b board, h *heard) (*Fleet, *prometheus.Registry) {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	f := New(b, h, p, rules.All(), "https://faultline.example", slog.New(slog.DiscardHandler))
	f.now = func() time.Time { return noon }
	f.count()
	if h != nil {
		if err := f.ask(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(f)
	return f, reg
}

// lines are the lines of a metric that are not 0, without those of native buckets.
func lines(t *testing.T, reg *prometheus.Registry, name string) []string {
	t.Helper()
	all, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, family := range all {
		if family.GetName() != "faultline_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			if value == 0 || value != value {
				continue
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			out = append(out, fmt.Sprintf("%s %g", strings.Join(labels, ","), value))
		}
	}
	return out
}

func TestWhatIsCounted(t *testing.T) {
	_, reg := counted(t, board{
		standing(semconv.Active, time.Hour),
		standing(semconv.Active, 2*time.Hour),
		standing(semconv.Provisioning, time.Hour),
		standing(semconv.Provisioning, time.Minute, attributed("cert", "cert.expired")),
		standing(semconv.Provisioning, 30*time.Minute, attributed("cert", "cert.expired"), overdueBy("node_agent", 10*time.Minute)),
		standing(semconv.ReleaseFailed, time.Minute, undecided, overdueBy("workflow", 20*time.Minute)),
		standing(semconv.Reserved, time.Second, undecided),
		standing(semconv.Requested, time.Second, attributed("provider", "provider.capacity")),
		standing(semconv.Failed, time.Hour, attributed("provider", "provider.job")), // over: nobody's trouble any more
		standing("melted", time.Hour),
		standing(semconv.Released, time.Minute, func(a *correlator.Assessment) {
			a.Verdict.Outcome, a.Orphans = correlator.None, []correlator.Orphan{{}, {}}
			a.Verdict.Drift = []correlator.Drift{{Projection: "ui", Field: "state"}, {Projection: "ui", Field: "colour"}}
		}),
	}, nil)
	for name, want := range map[string][]string{
		"fleet_allocations": {
			"none,none,active 2", "none,none,failed 1", "none,none,other 1", "cert,platform PKI,provisioning 2", "none,none,provisioning 1",
			"workflow,provisioning,release_failed 1", "none,none,released 1", "provider,automation,requested 1", "undetermined,undetermined,reserved 1",
		},
		"fleet_verdicts":                  {"cert,attributed 2", "none,attributed 1", "provider,attributed 1", "none,none 5", "none,undetermined 2"},
		"fleet_stuck_allocations":         {"cert,platform PKI,provisioning 1", "workflow,provisioning,release_failed 1"},
		"fleet_overdue_seconds":           {"provisioning 600", "release_failed 1200"},
		"fleet_idle_allocations":          {"failed 1", "provisioning 2"},
		"fleet_oldest_age_seconds":        {"active 7200", "failed 3600", "other 3600", "provisioning 3600", "release_failed 60", "released 60", "requested 1", "reserved 1"},
		"fleet_provider_faults":           {"aap,provider.capacity 1"},
		"fleet_drift":                     {"other,ui 1", "state,ui 1"},
		"fleet_orphans":                   {" 2"},
		"fleet_open_incidents":            {"cert,platform PKI 1", "provider,automation 1"},
		"fleet_incident_victims":          {"cert,platform PKI 1", "provider,automation 1"},
		"overview_judging_keeps_up":       {" 1"},
		"overview_look_age_seconds":       {" 1"},
		"overview_judging_behind_seconds": nil,
		"page_info":                       {"https://faultline.example 1"},
	} {
		have := lines(t, reg, name)
		slices.Sort(want)
		slices.Sort(have)
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// The number of series does not depend on how many allocations there are, nor on what goes on with them; what telemetry names is
// bounded.
func TestSeriesStayConstant(t *testing.T) {
	all := func(n, providers int) board {
		var out board
		for i := range n {
			var change []func(*correlator.Assessment)
			switch i % 5 {
			case 1:
				change = append(change, attributed([]string{"cert", "provider", "node", "network"}[i%4], "provider.capacity"))
			case 2:
				change = append(change, undecided, overdueBy("workflow", time.Minute))
			}
			s := standing(states[i%len(states)], time.Duration(i)*time.Second, change...)
			s.Providers = []string{fmt.Sprint("provider-", i%providers)}
			out = append(out, s)
		}
		return out
	}
	series := func(b board) (n int, took time.Duration) {
		t.Helper()
		f, reg := counted(t, b, nil)
		for i := range b { // each does everything that it can
			f.Judged("", correlator.Attributed)
			f.Judged(correlator.Attributed, correlator.None)
			f.Moved(overview.Move{To: semconv.Requested, Stayed: -1})
			f.Moved(overview.Move{From: semconv.Provisioning, To: semconv.Active, Stayed: int64(i), Operation: overview.Provision, Outcome: overview.Succeeded, Took: int64(i) * 1e9})
			f.Moved(overview.Move{From: "x", To: fmt.Sprint(i)})
		}
		all, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range all {
			for _, m := range family.GetMetric() {
				n++
				if h := m.GetHistogram(); h != nil {
					n += len(h.GetBucket()) + 2 // +Inf, sum and count
				}
			}
		}
		begun := time.Now()
		f.count()
		return n, time.Since(begun)
	}
	one, _ := series(all(1, 1))
	for _, n := range []int{2, 100, 10_000} {
		have, took := series(all(n, 1))
		t.Logf("%d allocations: %d series, counted in %s", n, have, took)
		if have != one {
			t.Errorf("%d series of %d allocations, %d of one", have, n, one)
		}
	}
	full, _ := series(all(10_000, mostProviders+1))
	if more, _ := series(all(10_000, 1000)); more != full {
		t.Errorf("%d series of 1000 providers, %d of %d", more, full, mostProviders+1)
	}
}

func TestSourcesAndLayers(t *testing.T) {
	at := ago(90 * time.Second)
	h := &heard{
		sources: query.SourceList{Sources: []query.Source{
			{Source: "api", Records: 10, Unresolved: 1, Lag: 0.5, Ahead: 2, Coverage: map[string]float64{semconv.AllocationID: 0.9}},
			{Source: "silent", SilentSeconds: 700},
		}},
		layers: query.LayerList{AsOf: ago(0), Layers: []query.Layer{{Layer: "provider", LastHeard: &at, Blamed: 3}, {Layer: "cert"}}},
	}
	f, reg := counted(t, nil, h)
	for name, want := range map[string]string{
		"source_coverage_ratio": "allocation_id,api 0.9", "source_unresolved_ratio": "api 0.1", "source_records": "api 10", "source_lag_seconds": "api 0.5",
		"source_ahead_seconds": "api 2", "source_silence_seconds": "silent 700", "layer_silence_seconds": "provider,automation 90", "layer_blamed_allocations": "provider,automation 3",
	} {
		if have := strings.Join(lines(t, reg, name), "; "); have != want {
			t.Errorf("%s: %s, want %s", name, have, want)
		}
	}
	// What was heard stands while the store is away, for a while.
	h.err = errors.New("away")
	if f.ask(t.Context()) == nil || len(lines(t, reg, "source_records")) != 1 {
		t.Error("what was heard is gone")
	}
	f.now = func() time.Time { return noon.Add(outdated + time.Second) }
	if have := lines(t, reg, "source_records"); have != nil {
		t.Errorf("%v is told after %s", have, outdated)
	}
}

// The store is asked every 15 seconds at most, however often anybody scrapes.
func TestAScrapeAsksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := profile.Load("")
		if err != nil {
			t.Fatal(err)
		}
		h := &heard{}
		f := New(board{}, h, p, nil, "", slog.New(slog.DiscardHandler))
		reg := prometheus.NewRegistry()
		reg.MustRegister(f)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		for range 61 {
			time.Sleep(time.Second)
			if _, err := reg.Gather(); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		if err := <-done; err != nil || h.asked != 5 {
			t.Errorf("%v, asked %d times within a minute", err, h.asked)
		}
	})
}

// A store that takes its time delays what is heard of sources, not the count of what is in memory.
func TestASlowStoreDelaysNoCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := profile.Load("")
		if err != nil {
			t.Fatal(err)
		}
		counts := 0
		f := New(counting{&counts}, &heard{takes: 3 * time.Second}, p, nil, "", slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		time.Sleep(time.Minute)
		stop()
		if err := <-done; err != nil || counts < 9 {
			t.Errorf("%v, counted %d times within a minute", err, counts)
		}
	})
}

// counting counts how often it is counted.
type counting struct{ times *int }

func (c counting) Each(func(overview.Standing) bool) bool { *c.times++; return true }
func (c counting) Health() overview.Health                { return overview.Health{} }

func TestChanges(t *testing.T) {
	f, reg := counted(t, nil, nil)
	f.Moved(overview.Move{From: semconv.Requested, To: semconv.Reserved, Stayed: int64(time.Second)})
	f.Moved(overview.Move{From: semconv.Requested, To: semconv.Active, Stayed: int64(time.Second), Operation: overview.Provision, Outcome: overview.Succeeded, Took: int64(time.Minute)})
	f.Moved(overview.Move{From: "", To: semconv.Requested, Stayed: -1})
	f.Judged("", correlator.Undetermined)
	for name, want := range map[string]string{
		"fleet_transitions_total":          "none,requested 1; other,other 1; requested,reserved 1",
		"fleet_state_duration_seconds":     "requested 1",
		"fleet_operation_duration_seconds": "provision,succeeded 1",
		"fleet_verdict_changes_total":      "unjudged,undetermined 1",
	} {
		if have := strings.Join(lines(t, reg, name), "; "); have != want {
			t.Errorf("%s: %s, want %s", name, have, want)
		}
	}
}

var update = flag.Bool("update", false, "write the fleet's table of docs/metrics.md anew")

// gauges describes what is counted; changes speak for themselves.
type gauges struct{}

func (gauges) Collect(chan<- prometheus.Metric) {}
func (gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		out <- d.desc
	}
}

func TestMetricsAreDocumented(t *testing.T) {
	doctest.Metrics(t, "../../docs/metrics.md", "the fleet", *update, append(newChanges().all(), gauges{})...)
}
