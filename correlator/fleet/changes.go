package fleet

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/overview"
	"github.com/faultline-io/faultline/internal/semconv"
)

// changes count what the overview tells of: every series is there from the start, so that none appears with a first failure.
type changes struct {
	moves      *prometheus.CounterVec
	stays      *prometheus.HistogramVec
	operations *prometheus.HistogramVec
	said       *prometheus.CounterVec
}

// seconds are classic buckets beside the native ones: service objectives ask for 15 minutes, 900.
var seconds = []float64{1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 14400}

// growth of native buckets: each is a tenth wider than the one before.
const growth = 1.1

func newChanges() *changes {
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "faultline_fleet_" + name, Help: help, Buckets: seconds,
			NativeHistogramBucketFactor: growth, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
		}, labels)
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "faultline_fleet_" + name, Help: help}, labels)
	}
	c := &changes{
		moves:      counter("transitions_total", "Changes of state as they are seen twice a second: what an allocation passed through in between is other.", "from", "to"),
		stays:      histogram("state_duration_seconds", "How long allocations were in a state that they left by a legal move.", "state"),
		operations: histogram("operation_duration_seconds", "How long provisioning took (from the first record to active) and release (from the first releasing to released), or until it failed.", "operation", "outcome"),
		said:       counter("verdict_changes_total", "Changes of what is said of an allocation, by outcome before and after; unjudged before the first.", "from", "to"),
	}
	for from, all := range semconv.AllocationMoves {
		for _, to := range all {
			c.moves.WithLabelValues(stateName(from), to)
		}
		if from != "" && len(all) > 0 {
			c.stays.WithLabelValues(from)
		}
	}
	c.moves.WithLabelValues(other, other)
	for _, operation := range []string{overview.Provision, overview.Release} {
		for _, outcome := range []string{overview.Succeeded, overview.Failed} {
			c.operations.WithLabelValues(operation, outcome)
		}
	}
	for _, from := range outcomes {
		for _, to := range outcomes[:len(outcomes)-1] {
			if from != to {
				c.said.WithLabelValues(from, to)
			}
		}
	}
	return c
}

const unjudged = "unjudged"

var outcomes = []string{correlator.None, correlator.Attributed, correlator.Contested, correlator.Undetermined, unjudged}

// stateName is a state as a label; "" is that of an allocation that did not exist.
func stateName(state string) string {
	if state == "" {
		return "none"
	}
	return state
}

// Moved implements overview.Watcher.
func (c *changes) Moved(m overview.Move) {
	if semconv.LegalMove(m.From, m.To) {
		c.moves.WithLabelValues(stateName(m.From), m.To).Inc()
		if m.From != "" && m.Stayed >= 0 {
			c.stays.WithLabelValues(m.From).Observe(time.Duration(m.Stayed).Seconds())
		}
	} else {
		c.moves.WithLabelValues(other, other).Inc()
	}
	if m.Operation != "" {
		c.operations.WithLabelValues(m.Operation, m.Outcome).Observe(time.Duration(m.Took).Seconds())
	}
}

// Judged implements overview.Watcher.
func (c *changes) Judged(from, to string) {
	if from == "" {
		from = unjudged
	}
	c.said.WithLabelValues(from, to).Inc()
}

func (c *changes) all() []prometheus.Collector {
	return []prometheus.Collector{c.moves, c.stays, c.operations, c.said}
}

// Describe implements prometheus.Collector.
func (c *changes) Describe(out chan<- *prometheus.Desc) {
	for _, one := range c.all() {
		one.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (c *changes) Collect(out chan<- prometheus.Metric) {
	for _, one := range c.all() {
		one.Collect(out)
	}
}
