package identityprocessor

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"
	"go.opentelemetry.io/otel/metric"

	"github.com/faultline-io/faultline/internal/kubeobject"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// objects adds the lifecycle events that watched Kubernetes objects mean, as log records of their own.
// The records that carry the objects pass without what must not be stored: see kubeobject.Withhold.
type objects struct {
	p               *identityProcessor
	known           kubeobject.Mappings
	count, withheld metric.Int64Counter
}

func newObjects(p *identityProcessor, set processor.Settings) (*objects, error) {
	count, err := set.MeterProvider.Meter(scopeName).Int64Counter("faultline_identity_objects_total", metric.WithUnit("{object}"),
		metric.WithDescription("Kubernetes objects in log records, by outcome: read, kind_unknown, broken."))
	if err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	withheld, err := set.MeterProvider.Meter(scopeName).Int64Counter("faultline_identity_objects_withheld_total", metric.WithUnit("{object}"),
		metric.WithDescription("Kubernetes objects of which something that must not be stored was taken out."))
	if err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	return &objects{p: p, known: p.profile.Objects(), count: count, withheld: withheld}, nil
}

// before runs ahead of whatever learns from a batch, so that it learns from the events too.
func (o *objects) before(next processorhelper.ProcessLogsFunc) processorhelper.ProcessLogsFunc {
	return func(ctx context.Context, ld plog.Logs) (plog.Logs, error) {
		o.add(ctx, ld)
		return next(ctx, ld)
	}
}

func (o *objects) add(ctx context.Context, ld plog.Logs) {
	var outcomes [kubeobject.Read + 1]int64
	var withheld int64
	for i := range ld.ResourceLogs().Len() { // what is appended below is not read again
		rl := ld.ResourceLogs().At(i)
		var events []*record.Record
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				if !mayBeObject(lr.Body()) {
					continue
				}
				if lr.ObservedTimestamp() == 0 {
					lr.SetObservedTimestamp(pcommon.NewTimestampFromTime(o.p.now()))
				}
				if withhold(lr.Body()) {
					withheld++
				}
				if len(o.known) == 0 {
					continue
				}
				derived, outcome := o.known.Derive(recordOf(rl.Resource(), lr))
				events = append(events, derived...)
				outcomes[outcome]++
			}
		}
		appendEvents(ld, rl.Resource(), events)
	}
	for outcome := kubeobject.Unknown; outcome <= kubeobject.Read; outcome++ {
		if n := outcomes[outcome]; n > 0 {
			add(ctx, o.count, n, "outcome", outcome.String())
		}
	}
	if withheld > 0 {
		o.withheld.Add(ctx, withheld)
	}
}

// withhold takes out of a body what must not be stored, and says whether there was any.
func withhold(body pcommon.Value) bool {
	if body.Type() == pcommon.ValueTypeStr {
		kept := kubeobject.WithholdText(body.Str())
		if kept == body.Str() {
			return false
		}
		body.SetStr(kept)
		return true
	}
	object := body.Map().AsRaw()
	if !kubeobject.Withhold(object) {
		return false
	}
	if body.FromRaw(object) != nil { // cannot be: it came out of one
		body.SetStr(kubeobject.Withheld)
	}
	return true
}

// mayBeObject costs next to nothing for the many records that hold no object.
func mayBeObject(body pcommon.Value) bool {
	switch body.Type() {
	case pcommon.ValueTypeMap:
		m := body.Map()
		return has(m, "apiVersion") || has(m, "object")
	case pcommon.ValueTypeStr:
		s := body.Str()
		return len(s) > 2 && s[0] == '{' && strings.Contains(s, `"apiVersion"`)
	}
	return false
}

// recordOf is the record as the store and the file reader give it, so that the same events come out.
func recordOf(resource pcommon.Resource, lr plog.LogRecord) *record.Record {
	bare := plog.NewLogs()
	rl := bare.ResourceLogs().AppendEmpty()
	resource.CopyTo(rl.Resource())
	lr.CopyTo(rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty())
	var out *record.Record
	otlp.Logs(bare, func(r *record.Record) bool { out = r; return false })
	return out
}

// appendEvents puts events under a copy of the resource that names the controller whose word they are.
func appendEvents(ld plog.Logs, resource pcommon.Resource, events []*record.Record) {
	of := map[string]plog.LogRecordSlice{}
	for _, e := range events {
		to, ok := of[e.Service]
		if !ok {
			rl := ld.ResourceLogs().AppendEmpty()
			resource.CopyTo(rl.Resource())
			if e.Service != "" {
				rl.Resource().Attributes().PutStr(semconv.ServiceName, e.Service)
			}
			sl := rl.ScopeLogs().AppendEmpty()
			sl.Scope().SetName(kubeobject.Scope)
			to = sl.LogRecords()
			of[e.Service] = to
		}
		lr := to.AppendEmpty()
		lr.SetTimestamp(pcommon.Timestamp(e.Time))             //nolint:gosec // came out of one
		lr.SetObservedTimestamp(pcommon.Timestamp(e.Observed)) //nolint:gosec // came out of one
		lr.SetEventName(e.Name)
		lr.SetSeverityNumber(plog.SeverityNumber(e.Severity)) //nolint:gosec // is a constant
		lr.SetSeverityText(e.SeverityText)
		lr.Attributes().EnsureCapacity(len(e.Attrs) + 4)
		for _, a := range e.Attrs {
			lr.Attributes().PutStr(a.Key, a.Value)
		}
	}
}
