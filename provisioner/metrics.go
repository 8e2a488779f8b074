package provisioner

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	return []prometheus.Collector{
		refusedMoves{s},
		counter("telemetry_records_total", "Records taken into the telemetry queue.", func() float64 { return float64(e.Stats().Taken) }),
		counter("telemetry_dropped_records_total", "Telemetry records that were dropped.", func() float64 { return float64(e.Stats().Dropped) }),
		gauge("telemetry_queue_records", "Telemetry records that wait.", func() float64 { return float64(e.Waiting()) }),
		gauge("outbox_messages", "Messages that wait for the relay.", func() float64 { n, _ := outbox(); return float64(n) }),
		gauge("outbox_oldest_age_seconds", "Age of the oldest message that waits.", age(outbox)),
		gauge("journal_transactions", "Transactions whose telemetry waits in the database.", func() float64 { n, _ := journal(); return float64(n) }),
		gauge("journal_oldest_age_seconds", "Age of the oldest telemetry that waits in the database.", age(journal)),
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
