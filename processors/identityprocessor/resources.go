package identityprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
)

// readResources gives what every metric resource carries; a resource makes no statements.
func (p *identityProcessor) readResources(md pmetric.Metrics) []decoded {
	bare := plog.NewLogs() // each resource with a record of nothing, so that it is read as everywhere else
	for _, rm := range md.ResourceMetrics().All() {
		rl := bare.ResourceLogs().AppendEmpty()
		rm.Resource().CopyTo(rl.Resource())
		rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	}
	out := make([]decoded, 0, md.ResourceMetrics().Len())
	otlp.Logs(bare, func(r *record.Record) bool {
		keys := p.profile.Keys(r)
		p.index.AddSeen(keys)
		out = append(out, decoded{keys: keys, print: p.index.Print(keys), service: r.Service, present: p.present(md.ResourceMetrics().At(len(out)).Resource().Attributes())})
		return true
	})
	return out
}

// present says which of the names that stamping may add are in a map.
func (p *identityProcessor) present(m pcommon.Map) (names uint32) {
	for name := range m.All() {
		names |= p.names.role(name).stamps
	}
	return names
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
