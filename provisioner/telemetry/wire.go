package telemetry

import (
	"log/slog"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Field numbers of OTLP's messages, opentelemetry/proto/{collector,resource,common,logs,trace}/v1. What is
// packed inside of a transaction is written straight into its wire form: a tree of objects in between would
// be a third of what telemetry adds to the transaction's time.
const (
	requestResources = 1 // of an export request of either signal

	resourceResource = 1 // ResourceLogs, ResourceSpans
	resourceScopes   = 2
	scopeScope       = 1 // ScopeLogs, ScopeSpans
	scopeRecords     = 2

	resourceAttributes = 1
	scopeNameField     = 1
	pairKey            = 1
	pairValue          = 2
	valueString        = 1
	valueBool          = 2
	valueInt           = 3
	valueDouble        = 4

	logTime         = 1
	logSeverity     = 2
	logSeverityText = 3
	logBody         = 5
	logAttributes   = 6
	logTrace        = 9
	logSpan         = 10
	logObserved     = 11
	logEventName    = 12

	spanTrace      = 1
	spanSpan       = 2
	spanParent     = 4
	spanName       = 5
	spanKind       = 6
	spanStart      = 7
	spanEnd        = 8
	spanAttributes = 9
	spanLinks      = 13
	spanStatus     = 15
	statusMessage  = 2
	statusCode     = 3
	statusError    = 2
)

// wire appends fields of protobuf messages.
type wire []byte

func (w *wire) text(field protowire.Number, v string) {
	if v != "" {
		*w = protowire.AppendString(protowire.AppendTag(*w, field, protowire.BytesType), v)
	}
}

func (w *wire) number(field protowire.Number, v uint64) {
	if v != 0 {
		*w = protowire.AppendVarint(protowire.AppendTag(*w, field, protowire.VarintType), v)
	}
}

func (w *wire) fixed(field protowire.Number, v uint64) {
	if v != 0 {
		*w = protowire.AppendFixed64(protowire.AppendTag(*w, field, protowire.Fixed64Type), v)
	}
}

func (w *wire) time(field protowire.Number, t time.Time) {
	w.fixed(field, uint64(pcommon.NewTimestampFromTime(t)))
}

func (w *wire) identifier(field protowire.Number, id []byte) {
	for _, b := range id {
		if b != 0 {
			*w = protowire.AppendBytes(protowire.AppendTag(*w, field, protowire.BytesType), id)
			return
		}
	}
}

// message appends what inner appends, behind its length.
func (w *wire) message(field protowire.Number, inner func()) {
	*w = protowire.AppendTag(*w, field, protowire.BytesType)
	at := len(*w)
	inner()
	n := len(*w) - at
	room := protowire.SizeVarint(uint64(n))
	*w = append(*w, make([]byte, room)...)
	copy((*w)[at+room:], (*w)[at:at+n])
	protowire.AppendVarint((*w)[:at], uint64(n))
}

func (w *wire) attributes(field protowire.Number, attrs []slog.Attr) {
	for i := range attrs {
		key := attrs[i].Key
		if slices.ContainsFunc(attrs[:i], func(a slog.Attr) bool { return a.Key == key }) {
			continue // OTLP knows one value of a key: it stands where the key stood first, and is what was said last
		}
		a := &attrs[i]
		for k := i + 1; k < len(attrs); k++ {
			if attrs[k].Key == key {
				a = &attrs[k]
			}
		}
		w.message(field, func() {
			w.text(pairKey, a.Key)
			w.message(pairValue, func() { w.value(a.Value.Resolve()) })
		})
	}
}

// value writes even what is empty or zero: which kind it is, is part of it.
func (w *wire) value(v slog.Value) {
	switch v.Kind() {
	case slog.KindInt64:
		*w = protowire.AppendVarint(protowire.AppendTag(*w, valueInt, protowire.VarintType), uint64(v.Int64()))
	case slog.KindUint64:
		*w = protowire.AppendVarint(protowire.AppendTag(*w, valueInt, protowire.VarintType), v.Uint64())
	case slog.KindBool:
		*w = protowire.AppendVarint(protowire.AppendTag(*w, valueBool, protowire.VarintType), protowire.EncodeBool(v.Bool()))
	case slog.KindFloat64:
		*w = protowire.AppendFixed64(protowire.AppendTag(*w, valueDouble, protowire.Fixed64Type), math.Float64bits(v.Float64()))
	case slog.KindTime:
		w.string(v.Time().UTC().Format(time.RFC3339Nano))
	default:
		w.string(v.String())
	}
}

func (w *wire) string(v string) {
	*w = protowire.AppendString(protowire.AppendTag(*w, valueString, protowire.BytesType), v)
}

// request appends an export request of those records that one gives back true for.
func (w *wire) request(records []Record, has func(Record) bool, one func(Record)) {
	done := make([]bool, len(records))
	for i, first := range records {
		if done[i] || !has(first) {
			continue
		}
		w.message(requestResources, func() {
			w.message(resourceResource, func() {
				w.attributes(resourceAttributes, []slog.Attr{slog.String(semconv.ServiceName, first.source.service)})
				w.attributes(resourceAttributes, first.source.resource)
			})
			w.message(resourceScopes, func() {
				w.message(scopeScope, func() { w.text(scopeNameField, scopeName) })
				for j := i; j < len(records); j++ {
					if !done[j] && has(records[j]) && records[j].source == first.source {
						done[j] = true
						w.message(scopeRecords, func() { one(records[j]) })
					}
				}
			})
		})
	}
}

func (w *wire) log(l *logRecord) {
	w.time(logTime, l.time)
	w.number(logSeverity, uint64(l.severity))
	w.text(logSeverityText, l.severity.String())
	w.message(logBody, func() { w.string(l.body) })
	w.attributes(logAttributes, l.attrs)
	w.identifier(logTrace, l.span.Trace[:])
	w.identifier(logSpan, l.span.Span[:])
	w.time(logObserved, l.observed)
	w.text(logEventName, l.name)
}

func (w *wire) span(p *spanRecord) {
	w.identifier(spanTrace, p.self.Trace[:])
	w.identifier(spanSpan, p.self.Span[:])
	w.identifier(spanParent, p.parent.Span[:])
	w.text(spanName, p.name)
	w.number(spanKind, uint64(p.kind))
	w.time(spanStart, p.start)
	w.time(spanEnd, p.end)
	w.attributes(spanAttributes, p.attrs)
	if p.link.Valid() {
		w.message(spanLinks, func() {
			w.identifier(spanTrace, p.link.Trace[:])
			w.identifier(spanSpan, p.link.Span[:])
		})
	}
	if p.failed {
		w.message(spanStatus, func() {
			w.text(statusMessage, p.message)
			w.number(statusCode, statusError)
		})
	}
}
