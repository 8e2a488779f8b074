package provisioner

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// metrics are read when somebody scrapes.
func metrics(s *store.Store, e *telemetry.Exporter) []prometheus.Collector {
	counter := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "faultline", Subsystem: "provisioner", Name: name, Help: help}, f)
	}
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "faultline", Subsystem: "provisioner", Name: name, Help: help}, f)
	}
	read := func(group string, backlog func(*store.Tx) (int, time.Time, error)) func() (int, time.Time) {
		return func() (n int, oldest time.Time) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = s.View(ctx, group, func(t *store.Tx) (err error) {
				n, oldest, err = backlog(t)
				return err
			})
			return n, oldest
		}
	}
	outbox, journal := read("outbox backlog", (*store.Tx).OutboxBacklog), read("journal backlog", (*store.Tx).JournalBacklog)
	age := func(backlog func() (int, time.Time)) func() float64 {
		return func() float64 {
			n, oldest := backlog()
			if n == 0 {
				return 0
			}
			return s.Now().Sub(oldest).Seconds()
		}
	}
	census := func(name, help, label string, known []string, read func(*store.Tx) ([]store.Group, error)) prometheus.Collector {
		return groups{s, prometheus.NewDesc("faultline_provisioner_"+name, help, []string{label}, nil), known, read}
	}
	return []prometheus.Collector{
		refusedMoves{s},
		census("nodes", "Nodes by occupancy.", "occupancy",
			[]string{lifecycle.Free, lifecycle.Reserved, lifecycle.Occupied, lifecycle.Cleanup, lifecycle.Fenced}, (*store.Tx).CountNodes),
		census("outbox_unsent_messages", "Messages whose last attempt failed, and dead ones, that nobody tries any more, by state.", "state",
			[]string{semconv.Failed, semconv.Dead}, (*store.Tx).CountUnsent),
		census("unobserved_provider_jobs", "Jobs that are not over and whose last call failed, by provider.", "provider", nil, (*store.Tx).CountUnobservedJobs),
		counter("telemetry_records_total", "Records taken into the telemetry queue.", func() float64 { return float64(e.Stats().Taken) }),
		counter("telemetry_dropped_records_total", "Telemetry records that were dropped.", func() float64 { return float64(e.Stats().Dropped) }),
		gauge("telemetry_queue_records", "Telemetry records that wait.", func() float64 { return float64(e.Waiting()) }),
		gauge("outbox_messages", "Messages that wait for the relay.", func() float64 { n, _ := outbox(); return float64(n) }),
		gauge("outbox_oldest_age_seconds", "Age of the oldest message that waits.", age(outbox)),
		gauge("journal_transactions", "Transactions whose telemetry waits in the database.", func() float64 { n, _ := journal(); return float64(n) }),
		gauge("journal_oldest_age_seconds", "Age of the oldest telemetry that waits in the database.", age(journal)),
	}
}

// groups are a gauge with a value for each group; those that are known are told of though they are empty.
type groups struct {
	store *store.Store
	desc  *prometheus.Desc
	known []string
	read  func(*store.Tx) ([]store.Group, error)
}

// Describe implements prometheus.Collector.
func (g groups) Describe(out chan<- *prometheus.Desc) { out <- g.desc }

// Collect implements prometheus.Collector.
func (g groups) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	counts := map[string]int{}
	for _, kind := range g.known {
		counts[kind] = 0
	}
	err := g.store.View(ctx, "census", func(t *store.Tx) error {
		list, err := g.read(t)
		for _, one := range list {
			counts[one.Kind] = one.Count
		}
		return err
	})
	if err != nil {
		return // nobody knows
	}
	for kind, n := range counts {
		out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, float64(n), kind)
	}
}

// refusedMoves counts refusals of the lifecycle's tables.
type refusedMoves struct{ store *store.Store }

var refusedMovesDesc = prometheus.NewDesc("faultline_provisioner_refused_moves_total",
	"Moves that are not in the lifecycle's tables, or whose guard was not satisfied.", []string{"of", "reason"}, nil)

func (r refusedMoves) Describe(out chan<- *prometheus.Desc) { out <- refusedMovesDesc }

func (r refusedMoves) Collect(out chan<- prometheus.Metric) {
	for m, n := range r.store.RefusedMoves() {
		out <- prometheus.MustNewConstMetric(refusedMovesDesc, prometheus.CounterValue, float64(n), m.Of, string(m.Reason))
	}
}
