package otlp

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/kubeobject"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// The receiver of Kubernetes objects says the object's name as event.name: that is no event of ours.
const (
	eventDomain = "event.domain"
	kubernetes  = "k8s"
)

// Logs calls yield for every log record, in document order, until it returns false.
func Logs(ld plog.Logs, yield func(*record.Record) bool) { new(Decoder).Logs(ld, yield) }

// Spans calls yield for every span, in document order, until it returns false.
func Spans(td ptrace.Traces, yield func(*record.Record) bool) { new(Decoder).Spans(td, yield) }

// Logs is Logs, and counts.
func (d *Decoder) Logs(ld plog.Logs, yield func(*record.Record) bool) {
	for _, rl := range ld.ResourceLogs().All() {
		resource, stamped := d.attributes(rl.Resource().Attributes(), nil)
		service, _ := resource.Get(semconv.ServiceName)
		for _, sl := range rl.ScopeLogs().All() {
			scope := d.Text(sl.Scope().Name())
			for _, lr := range sl.LogRecords().All() {
				r := d.log(lr, stamped)
				r.Service, r.Resource, r.Scope = service, resource, scope
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Spans is Spans, and counts.
func (d *Decoder) Spans(td ptrace.Traces, yield func(*record.Record) bool) {
	for _, rs := range td.ResourceSpans().All() {
		resource, stamped := d.attributes(rs.Resource().Attributes(), nil)
		service, _ := resource.Get(semconv.ServiceName)
		for _, ss := range rs.ScopeSpans().All() {
			scope := d.Text(ss.Scope().Name())
			for _, sp := range ss.Spans().All() {
				r := d.span(sp, stamped)
				r.Service, r.Resource, r.Scope = service, resource, scope
				if !yield(r) {
					return
				}
			}
		}
	}
}

func (d *Decoder) log(lr plog.LogRecord, stamped record.Attrs) *record.Record {
	r := &record.Record{
		Signal: record.Log, Time: d.Nanos(lr.Timestamp()), Observed: d.Nanos(lr.ObservedTimestamp()),
		Severity: int(lr.SeverityNumber()), SeverityText: d.Text(lr.SeverityText()), Body: kubeobject.WithholdText(d.Value(lr.Body())),
		Name: d.Text(lr.EventName()),
	}
	r.Attrs, r.Stamped = d.attributes(lr.Attributes(), stamped)
	if domain, _ := r.Attrs.Get(eventDomain); r.Name == "" && domain != kubernetes {
		r.Name, _ = r.Attrs.Get(semconv.EventNameKey)
	}
	if id := lr.TraceID(); !id.IsEmpty() {
		r.TraceID = id.String()
	}
	if id := lr.SpanID(); !id.IsEmpty() {
		r.SpanID = id.String()
	}
	if r.Severity == 0 {
		r.Severity = record.SeverityNumber(r.SeverityText)
	}
	if r.Severity < int(plog.SeverityNumberError) && r.Name == "" {
		if level := record.LineLevel(r.Body); level > 0 {
			r.Severity = max(r.Severity, level)
		}
	}
	return settle(r)
}

func (d *Decoder) span(sp ptrace.Span, stamped record.Attrs) *record.Record {
	r := &record.Record{
		Signal: record.Span, Time: d.Nanos(sp.StartTimestamp()), End: d.Nanos(sp.EndTimestamp()), Name: d.Text(sp.Name()),
		SpanKind: kindNames[sp.Kind()], Status: statusNames[sp.Status().Code()], StatusMessage: d.Text(sp.Status().Message()),
	}
	r.Attrs, r.Stamped = d.attributes(sp.Attributes(), stamped)
	if id := sp.TraceID(); !id.IsEmpty() {
		r.TraceID = id.String()
	}
	if id := sp.SpanID(); !id.IsEmpty() {
		r.SpanID = id.String()
	}
	if id := sp.ParentSpanID(); !id.IsEmpty() {
		r.ParentID = id.String()
	}
	for _, e := range sp.Events().All() {
		attrs, _ := d.attributes(e.Attributes(), nil)
		r.Events = append(r.Events, record.SpanEvent{Time: d.Nanos(e.Timestamp()), Name: d.Text(e.Name()), Attrs: attrs})
	}
	if sp.Status().Code() == ptrace.StatusCodeError {
		r.Severity = int(plog.SeverityNumberError)
	}
	// A span is seen when it has ended; OTLP carries no observed time for it.
	r.Observed = r.End
	return settle(r)
}

// settle fills in for times that the emitter left out: OTLP says to use the observed time then.
func settle(r *record.Record) *record.Record {
	if r.Time == 0 {
		r.Time = r.Observed
	}
	if r.Observed == 0 {
		r.Observed = r.Time
	}
	return r
}

// attributes turns a map into text. Keys that the processor lists as its own additions go to stamped,
// which is returned on top of what the resource had.
func (d *Decoder) attributes(m pcommon.Map, inherited record.Attrs) (own, stamped record.Attrs) {
	added := ""
	if v, ok := m.Get(semconv.IdentityStamped); ok {
		added = v.AsString()
	}
	own = make(record.Attrs, 0, m.Len())
	stamped = inherited
	for k, v := range m.All() {
		switch {
		case k == semconv.IdentityStamped:
		case k == semconv.IdentityVia, k == semconv.IdentityConflict, added != "" && Listed(added, k):
			if len(stamped) == len(inherited) { // the first of its own: what it inherits stays the resource's
				stamped = append(make(record.Attrs, 0, len(inherited)+usualStamps), inherited...)
			}
			stamped = append(stamped, record.Attr{Key: d.Text(k), Value: d.Value(v)})
		default:
			own = append(own, record.Attr{Key: d.Text(k), Value: d.Value(v)})
		}
	}
	if len(own) == 0 {
		own = nil
	}
	return own.Sort(), stamped.Sort()
}

// usualStamps is how many attributes a record usually gets.
const usualStamps = 6

// Listed says whether a name stands in a list of names, as identity_stamped is one.
func Listed(list, name string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == name {
			return true
		}
	}
	return false
}

var kindNames = map[ptrace.SpanKind]string{
	ptrace.SpanKindInternal: "internal", ptrace.SpanKindServer: "server", ptrace.SpanKindClient: "client",
	ptrace.SpanKindProducer: "producer", ptrace.SpanKindConsumer: "consumer",
}

var statusNames = map[ptrace.StatusCode]string{ptrace.StatusCodeOk: "ok", ptrace.StatusCodeError: "error"}
