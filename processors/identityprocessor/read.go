package identityprocessor

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
)

// carried is all that resolving and stamping need to know of one record. Everything above works on
// this alone: whoever reads pdata without building records replaces the functions of this file.
type carried struct {
	keys         identity.Keys
	at, observed int64 // Unix nanoseconds
	service      string
}

// readLogs gives what every log record carries, in document order, and learns from all of them.
func (p *identityProcessor) readLogs(ld plog.Logs, t *tally) []carried {
	out := make([]carried, 0, ld.LogRecordCount())
	otlp.Logs(ld, func(r *record.Record) bool { out = append(out, p.learn(r, t)); return true })
	return out
}

// readSpans is readLogs for spans.
func (p *identityProcessor) readSpans(td ptrace.Traces, t *tally) []carried {
	out := make([]carried, 0, td.SpanCount())
	otlp.Spans(td, func(r *record.Record) bool { out = append(out, p.learn(r, t)); return true })
	return out
}

func (p *identityProcessor) learn(r *record.Record, t *tally) carried {
	r.Keys = p.profile.Keys(r)
	t.inspect(r, p.profile)
	if err := r.Learn(p.index); err != nil {
		t.refused(err)
	}
	return carried{keys: r.Keys, at: r.Time, observed: r.Observed, service: r.Service}
}

// readResources gives what every metric resource carries; a resource makes no statements.
func (p *identityProcessor) readResources(md pmetric.Metrics) []carried {
	bare := plog.NewLogs() // each resource with a record of nothing, so that it is read as everywhere else
	for _, rm := range md.ResourceMetrics().All() {
		rl := bare.ResourceLogs().AppendEmpty()
		rm.Resource().CopyTo(rl.Resource())
		rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	}
	out := make([]carried, 0, md.ResourceMetrics().Len())
	otlp.Logs(bare, func(r *record.Record) bool {
		keys := p.profile.Keys(r)
		p.index.AddSeen(keys)
		out = append(out, carried{keys: keys, service: r.Service})
		return true
	})
	return out
}

// span is the time of the first and of the last point of a resource, 0 where no point has one.
func span(rm pmetric.ResourceMetrics) (first, last int64) {
	see := func(at int64) {
		if at > 0 && (first == 0 || at < first) {
			first = at
		}
		last = max(last, at)
	}
	for _, sm := range rm.ScopeMetrics().All() {
		for _, m := range sm.Metrics().All() {
			switch m.Type() {
			case pmetric.MetricTypeGauge:
				for _, d := range m.Gauge().DataPoints().All() {
					see(int64(d.Timestamp())) //nolint:gosec // beyond 2262 it is no time at all
				}
			case pmetric.MetricTypeSum:
				for _, d := range m.Sum().DataPoints().All() {
					see(int64(d.Timestamp())) //nolint:gosec // see above
				}
			case pmetric.MetricTypeHistogram:
				for _, d := range m.Histogram().DataPoints().All() {
					see(int64(d.Timestamp())) //nolint:gosec // see above
				}
			case pmetric.MetricTypeExponentialHistogram:
				for _, d := range m.ExponentialHistogram().DataPoints().All() {
					see(int64(d.Timestamp())) //nolint:gosec // see above
				}
			case pmetric.MetricTypeSummary:
				for _, d := range m.Summary().DataPoints().All() {
					see(int64(d.Timestamp())) //nolint:gosec // see above
				}
			}
		}
	}
	return first, last
}
