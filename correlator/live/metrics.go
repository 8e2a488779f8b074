package live

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// metrics of the service. Labels are bounded: layers are the profile's, states the contract's, rules those
// of the build.
type metrics struct {
	every   time.Duration // how often gauges are counted anew
	waiting []int64       // times of arrival of what the next write says
	layers  map[string]bool

	rows, failures, postponed, ahead prometheus.Counter
	revisions, panics                *prometheus.CounterVec
	lag, judged, took                prometheus.Histogram
	phases                           *prometheus.HistogramVec
	verdicts, stuck, drift, incident *gaugeCount
	allocations, records, queued     prometheus.Gauge
	loading, replicas                prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer, p *profile.Profile) *metrics {
	f := promauto.With(reg)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "faultline_judging_" + name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return f.NewCounterVec(prometheus.CounterOpts{Name: "faultline_judging_" + name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: "faultline_judging_" + name, Help: help})
	}
	gauges := func(name, help string, labels ...string) *gaugeCount {
		return &gaugeCount{vec: f.NewGaugeVec(prometheus.GaugeOpts{Name: "faultline_judging_" + name, Help: help}, labels)}
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return f.NewHistogram(prometheus.HistogramOpts{Name: "faultline_judging_" + name, Help: help, Buckets: buckets})
	}
	seconds := []float64{0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60}
	m := &metrics{
		phases: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "faultline_judging_look_duration_seconds", Help: "Time of a look at what arrived, by phase: lease, feed, judge, write.", Buckets: seconds,
		}, []string{"phase"}),
		every: 5 * time.Second, layers: map[string]bool{"": true},
		rows:        counter("records_total", "Records that were followed."),
		failures:    counter("failures_total", "Looks that ended early because the store did not answer."),
		postponed:   counter("postponed_total", "Judgements that had to wait for the next look, because the share of a core was used up."),
		ahead:       counter("claims_ahead_total", "Records that claim to have been observed after they were brought to the store; the log names their emitters."),
		revisions:   counters("revisions_total", "Changes of a verdict that were written, by why: first, records, time, rules.", "why"),
		panics:      counters("rule_panics_total", "Rules that panicked and were left out of a judgement.", "rule"),
		lag:         histogram("lag_seconds", "From the store's taking a record to the changed verdict being stored.", seconds),
		judged:      histogram("judged_seconds", "From the store's taking a record to its allocation being judged, changed or not.", seconds),
		took:        histogram("judgement_duration_seconds", "Time to judge one allocation.", prometheus.ExponentialBuckets(0.00005, 2, 16)),
		verdicts:    gauges("verdicts", "Allocations in the working set, by outcome and layer of the strongest fault.", "outcome", "layer"),
		stuck:       gauges("stuck", "Allocations whose next step is overdue, by state and by the layer whose trouble it is.", "state", "layer"),
		drift:       gauges("drift", "Views that show something else than the truth, by projection's field.", "field"),
		incident:    gauges("open_incidents", "Incidents that are open, by layer.", "layer"),
		allocations: gauge("allocations", "Allocations in the working set."),
		records:     gauge("held_records", "Records in memory."),
		queued:      gauge("queue", "Allocations that wait to be judged."),
		loading:     gauge("loading", "Allocations whose record set is still to be read from the store."),
		replicas:    gauge("replicas", "Replicas that share the work, this one included."),
	}
	for _, layer := range p.Layers {
		m.layers[layer] = true
	}
	return m
}

// states that may be a label; what a producer invents is "other".
var states = map[string]bool{
	semconv.Requested: true, semconv.Reserved: true, semconv.Provisioning: true, semconv.Active: true, semconv.Degraded: true,
	semconv.Canceling: true, semconv.Canceled: true, semconv.Failed: true, semconv.Releasing: true, semconv.ReleaseFailed: true, semconv.Released: true,
}

// fields of projections that may be a label.
var fields = map[string]bool{"state": true, "message": true, "occupancy": true, "job_state": true}

func known(set map[string]bool, value string) string {
	if set[value] {
		return value
	}
	return "other"
}

// count sets the gauges by what was last said of everything in the working set.
func (m *metrics) count(s *Service) {
	allocations, records := s.set.Size()
	m.allocations.Set(float64(allocations))
	m.records.Set(float64(records))
	m.queued.Set(float64(s.queue.len()))
	m.loading.Set(float64(s.loader.behind()))
	m.replicas.Set(float64(s.partitioner.count()))
	var notable []correlator.Assessment
	for _, w := range s.published {
		if w.assessment == nil {
			continue
		}
		v, layer := w.assessment.Verdict, ""
		if len(v.Faults) > 0 {
			layer = known(m.layers, v.Faults[0].Layer)
		}
		m.verdicts.add(v.Outcome, layer)
		for _, d := range v.Drift {
			m.drift.add(known(fields, d.Field))
		}
		if len(w.assessment.Occurrences) > 0 || w.assessment.Stuck != nil {
			notable = append(notable, *w.assessment)
		}
	}
	for _, one := range incident.ListStuck(notable, 0).Allocations {
		state := "unknown"
		if one.State != nil {
			state = known(states, *one.State)
		}
		m.stuck.add(state, known(m.layers, one.Layer))
	}
	for _, in := range incident.Group(notable, s.now().UnixNano(), incident.Window) {
		if in.Open {
			m.incident.add(known(m.layers, in.Layer))
		}
	}
	for _, t := range []*gaugeCount{m.verdicts, m.stuck, m.drift, m.incident} {
		t.publish()
	}
}

// gaugeCount is a gauge that is counted anew now and then. What is no longer counted is 0 once it was shown, so
// that nobody who looks in between sees a gap.
type gaugeCount struct {
	vec    *prometheus.GaugeVec
	counts map[string]float64 // by labels
	shown  map[string][]string
}

func (t *gaugeCount) add(labels ...string) {
	key := strings.Join(labels, "\x00")
	if t.counts == nil {
		t.counts = map[string]float64{}
	}
	if t.shown == nil {
		t.shown = map[string][]string{}
	}
	t.counts[key]++
	t.shown[key] = labels
}

func (t *gaugeCount) publish() {
	for key, labels := range t.shown {
		t.vec.WithLabelValues(labels...).Set(t.counts[key])
	}
	t.counts = nil
}
