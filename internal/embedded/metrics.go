package embedded

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/faultline-io/faultline/internal/embedded/chhttp"
)

// metrics are the store's; memory is process_resident_memory_bytes, the engine's included.
type metrics struct {
	registry   *prometheus.Registry
	statements prometheus.Counter
	failures   *prometheus.CounterVec
	seconds    prometheus.Histogram
	readRows   prometheus.Counter
	readBytes  prometheus.Counter
	wroteRows  prometheus.Counter
	wroteBytes prometheus.Counter
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		registry:   prometheus.NewRegistry(),
		statements: counter("faultline_store_statements_total", "Statements that ended, failed ones included."),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "faultline_store_failures_total", Help: "Requests that failed, by ClickHouse's error code.",
		}, []string{"code"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "faultline_store_statement_seconds", Help: "How long statements took, waiting for a connection included.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}),
		readRows:   counter("faultline_store_read_rows_total", "Rows read from storage."),
		readBytes:  counter("faultline_store_read_bytes_total", "Bytes read from storage, uncompressed."),
		wroteRows:  counter("faultline_store_written_rows_total", "Rows written, those of materialized views included."),
		wroteBytes: counter("faultline_store_written_bytes_total", "Bytes written, uncompressed."),
	}
	m.registry.MustRegister(append(m.own(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())...)
	return m
}

// own are those of the store itself.
func (m *metrics) own() []prometheus.Collector {
	return []prometheus.Collector{m.statements, m.failures, m.seconds, m.readRows, m.readBytes, m.wroteRows, m.wroteBytes}
}

// watch adds what is known only while the server runs.
func (m *metrics) watch(s *chhttp.Server) { m.registry.MustRegister(m.current(s)...) }

func (*metrics) current(s *chhttp.Server) []prometheus.Collector {
	gauge := func(name, help string, f func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(f()) })
	}
	return []prometheus.Collector{
		gauge("faultline_store_statements_in_flight", "Statements that run or wait now.", func() int { return s.Running() }),
		gauge("faultline_store_statements_waiting", "Statements that wait for a connection.", func() int { return s.Waiting() }),
	}
}

func (m *metrics) observe(r chhttp.Record) {
	if r.QueryID != "" {
		m.statements.Inc()
		m.seconds.Observe(r.Duration.Seconds())
	}
	if r.Code != 0 {
		m.failures.WithLabelValues(strconv.Itoa(r.Code)).Inc()
	}
	m.readRows.Add(float64(r.ReadRows))
	m.readBytes.Add(float64(r.ReadBytes))
	m.wroteRows.Add(float64(r.WrittenRows))
	m.wroteBytes.Add(float64(r.WrittenBytes))
}
