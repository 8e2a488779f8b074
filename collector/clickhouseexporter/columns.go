package clickhouseexporter

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

const viaAttribute = semconv.IdentityVia

// eventColumns are the columns of `events` that are written, in the order of columns. When a record was ingested the store says
// by its own clock.
var eventColumns = func() []string {
	names := []string{
		"key", "signal", "time", "observed_delay", "service", "name", "severity", "body", "trace_id", "span_id",
	}
	for _, kind := range ownKinds {
		names = append(names, kind.Attribute())
	}
	return append(names, "keys_rest", "form_json", "resource_json", "attrs_rest", "extra_json")
}()

// columns gives rows [from, to) in the order of eventColumns.
func (b *batch) columns(from, to int) []any {
	out := []any{
		b.key[from:to], b.signal[from:to], b.time[from:to], b.delay[from:to], b.service[from:to], b.name[from:to],
		b.severity[from:to], b.body[from:to], b.traceID[from:to], b.spanID[from:to],
	}
	for i := range b.ids {
		out = append(out, b.ids[i][from:to])
	}
	return append(out, b.keys[from:to], b.form[from:to], b.resource[from:to], b.attrs[from:to], b.extra[from:to])
}

// pairs lets the driver read attributes as a map without building one.
type pairs record.Attrs

var _ column.IterableOrderedMap = pairs(nil)

// Put belongs to the driver's interface, for reading; nothing is ever read into pairs.
func (pairs) Put(any, any) {}

// Iterator walks the attributes in their order.
func (p pairs) Iterator() column.MapIterator { return &walk{attrs: p, at: -1} }

type walk struct {
	attrs pairs
	at    int
}

func (w *walk) Next() bool { w.at++; return w.at < len(w.attrs) }
func (w *walk) Key() any   { return w.attrs[w.at].Key }
func (w *walk) Value() any { return w.attrs[w.at].Value }
