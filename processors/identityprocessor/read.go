package identityprocessor

import (
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// carried is all that resolving and stamping need to know of one record.
type carried struct {
	keys         identity.Keys
	found        identity.Subjects // what the index found of them, so that it need not look again
	at, observed int64             // Unix nanoseconds
	service      string
	there        uint32 // names that stamping may add and that the record or its resource has
}

// reading is one batch being read. Ordinary records are read where they lie: their keys point into the
// batch, in memory that the next batch uses again. A record that is not ordinary (a binding, baggage, an
// attribute that is a list, two names for one identifier) is decoded as everywhere else.
type reading struct {
	p       *identityProcessor
	t       *tally
	records []carried
	keys    []identity.Key
	found   identity.Subjects
	traces  strings.Builder
	trace   pcommon.TraceID // the last one, and how it is written
	traceID string

	// Of the resource at hand.
	resource pcommon.Resource
	inherits identity.Keys
	known    identity.Subjects // what the index found of inherits
	service  string
	there    uint32
	bad      int64 // identifiers on it that are none
	explicit bool  // it names its allocation itself
	ignored  bool  // the profile ignores one of its records
}

var readings = sync.Pool{New: func() any { return &reading{} }}

func (p *identityProcessor) read(records int, t *tally) *reading {
	r := readings.Get().(*reading)
	r.p, r.t = p, t
	r.records = slices.Grow(r.records[:0], records)
	r.reserve(4 * records)
	return r
}

// done gives the memory back; nothing that was read may be used any more.
func (r *reading) done() {
	clear(r.records)
	clear(r.keys)
	clear(r.found)
	*r = reading{records: r.records[:0], keys: r.keys[:0], found: r.found[:0]}
	readings.Put(r)
}

// reserve makes room for keys. What was read before keeps the room that it has.
func (r *reading) reserve(n int) {
	if cap(r.keys)-len(r.keys) < n {
		r.keys = make([]identity.Key, 0, max(n, 1024))
		r.found = make(identity.Subjects, max(n, 1024))
	}
	r.found = r.found[:cap(r.found)]
}

// logs reads every log record, in document order, and learns from all of them.
func (r *reading) logs(ld plog.Logs) []carried {
	for _, rl := range ld.ResourceLogs().All() {
		r.enter(rl.Resource())
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				if !r.log(lr) {
					bare := plog.NewLogs()
					to := bare.ResourceLogs().AppendEmpty()
					rl.Resource().CopyTo(to.Resource())
					lr.CopyTo(to.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty())
					otlp.Logs(bare, func(rec *record.Record) bool { r.decoded(rec, lr.Attributes()); return true })
				}
			}
		}
		r.leave()
	}
	return r.records
}

// spans is logs for spans.
func (r *reading) spans(td ptrace.Traces) []carried {
	for _, rs := range td.ResourceSpans().All() {
		r.enter(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				if !r.span(sp) {
					bare := ptrace.NewTraces()
					to := bare.ResourceSpans().AppendEmpty()
					rs.Resource().CopyTo(to.Resource())
					sp.CopyTo(to.ScopeSpans().AppendEmpty().Spans().AppendEmpty())
					otlp.Spans(bare, func(rec *record.Record) bool { r.decoded(rec, sp.Attributes()); return true })
				}
			}
		}
		r.leave()
	}
	return r.records
}

// decoded learns from a record that was not ordinary.
func (r *reading) decoded(rec *record.Record, attrs pcommon.Map) {
	c := r.p.learn(rec, r.t)
	c.there = r.there
	for name := range attrs.All() {
		c.there |= r.p.names.role(name).stamps
	}
	r.records = append(r.records, c)
}

func (p *identityProcessor) learn(r *record.Record, t *tally) carried {
	r.Keys = p.profile.Keys(r)
	t.inspect(r, p.profile)
	p.index.AddSeenFrom(r.Service, r.Keys, nil)
	facts, err := r.Facts()
	for _, f := range facts {
		if e := p.index.AddFrom(r.Service, f); e != nil {
			err = e
		}
	}
	if err != nil {
		t.refused(err)
	}
	return carried{keys: r.Keys, at: r.Time, observed: r.Observed, service: r.Service}
}

// enter reads what the records of a resource have in common.
func (r *reading) enter(resource pcommon.Resource) {
	r.resource, r.service, r.there, r.bad, r.explicit, r.ignored = resource, "", 0, 0, false, false
	var attrs record.Attrs
	stamped := ""
	for name, v := range resource.Attributes().All() {
		role := r.p.names.role(name)
		r.there |= role.stamps
		switch {
		case role.stamps == markStamped:
			stamped = v.AsString()
		case name == semconv.ServiceName && r.service == "":
			r.service = valid(v.AsString())
		case role.kind != identity.NoKind || role.baggage:
			attrs = append(attrs, record.Attr{Key: name, Value: valid(v.AsString())})
		}
	}
	attrs = slices.DeleteFunc(attrs, func(a record.Attr) bool { return listed(stamped, a.Key) }).Sort()
	r.inherits, r.known = nil, nil
	if len(attrs) > 0 {
		r.inherits = r.p.profile.Keys(&record.Record{Service: r.service, Resource: attrs})
	}
	for _, a := range attrs {
		if a.Value != "" && !identity.ValidID(a.Value) && r.p.names.role(a.Key).kind != identity.NoKind {
			r.bad++
		}
	}
	r.explicit = r.inherits.First(identity.Allocation) != "" && r.there&(1<<identity.Allocation) != 0
}

// leave says on the resource, once, what holds for all its records.
func (r *reading) leave() {
	if r.explicit && !r.ignored {
		putNew(r.resource.Attributes(), semconv.IdentityVia, string(identity.Explicit))
	}
}

// log reads one log record; false says that it is not an ordinary one.
func (r *reading) log(lr plog.LogRecord) bool {
	c := carried{at: nanos(lr.Timestamp()), observed: nanos(lr.ObservedTimestamp())}
	return r.ordinary(c, record.Log, lr.EventName(), lr.Attributes(), lr.TraceID(), lr.Body())
}

func (r *reading) span(sp ptrace.Span) bool {
	c := carried{at: nanos(sp.StartTimestamp()), observed: nanos(sp.EndTimestamp())}
	return r.ordinary(c, record.Span, "", sp.Attributes(), sp.TraceID(), pcommon.Value{})
}

func (r *reading) ordinary(c carried, signal record.Signal, event string, attrs pcommon.Map, trace pcommon.TraceID, body pcommon.Value) bool {
	r.reserve(2 * identity.MaxKeysPerRecord)
	start := len(r.keys)
	out := identity.Keys(r.keys[start:start:cap(r.keys)])
	var kinds, bad uint32
	stamped := ""
	for name, v := range attrs.All() {
		role := r.p.names.role(name)
		if role.stamps|uint32(role.kind) == 0 && !role.event && !role.baggage {
			continue
		}
		c.there |= role.stamps
		switch {
		case role.stamps == markStamped:
			stamped = v.AsString()
		case role.event && event == "" && signal == record.Log:
			event = v.AsString()
		case role.baggage:
			return false
		case role.kind != identity.NoKind:
			id := v.AsString()
			if kinds&(1<<role.kind) != 0 || id != "" && id[0] == '[' || !role.canonical && role.stamps != 0 {
				return false
			}
			kinds |= 1 << role.kind
			if id = valid(id); identity.ValidID(id) {
				out = append(out, identity.Key{Kind: role.kind, ID: id})
			} else if id != "" {
				bad++
			}
		}
	}
	if event != "" && (implies(event) || !slices.Contains(eventNames, event)) {
		return false
	}
	if stamped != "" {
		if kinds != c.there&kinds || bad > 0 {
			return false // identifiers under other names
		}
		out = slices.DeleteFunc(out, func(k identity.Key) bool { return listed(stamped, k.Kind.Attribute()) })
	}
	own := len(out)
	for _, k := range r.inherits {
		if out[:own].First(k.Kind) == "" {
			out = out.Add(k.Kind, k.ID)
		}
	}
	if signal == record.Log {
		for name, v := range attrs.All() {
			if r.p.profile.ReadsValue(name) {
				out = r.p.profile.FromValue(out, r.service, name, valid(v.AsString()))
			}
		}
	}
	if !trace.IsEmpty() {
		out = out.Add(identity.Trace, r.hex(trace))
	}
	if signal == record.Log && body.Type() != pcommon.ValueTypeEmpty {
		var ok bool
		if out, ok = r.fromLine(out, valid(body.AsString())); !ok {
			out = out[:0]
			r.ignored = true
		}
	}
	if len(out) > 0 && &out[0] == &r.keys[:cap(r.keys)][start] {
		r.keys = r.keys[:start+len(out)]
		c.found = r.found[start : start+len(out) : start+len(out)]
	}
	c.keys, c.service, c.there = out[:len(out):len(out)], r.service, c.there|r.there
	if r.explicit {
		c.there |= markVia
	}
	if c.at == 0 {
		c.at = c.observed
	}
	if c.observed == 0 {
		c.observed = c.at
	}
	if n := int64(bad) + r.bad; n > 0 {
		r.t.badIDs(n, r.service)
	}
	r.t.clock(c.at, r.service)
	switch inherited := own == 0 && len(c.keys) == len(r.inherits); {
	case inherited && r.known != nil: // the record says what its resource says, which was learnt
		c.found = r.known
	default:
		r.p.index.AddSeenFrom(r.service, c.keys, c.found)
		if inherited {
			r.known = c.found
		}
	}
	r.records = append(r.records, c)
	return true
}

// fromLine adds what stands in the text of a line; false where the profile ignores the whole record.
func (r *reading) fromLine(out identity.Keys, line string) (identity.Keys, bool) {
	if line == "" {
		return out, true
	}
	return r.p.profile.FromLine(out, r.service, line)
}

// hex writes a trace's id into memory of the whole batch.
func (r *reading) hex(id pcommon.TraceID) string {
	if id == r.trace && r.traceID != "" {
		return r.traceID
	}
	var text [32]byte
	hex.Encode(text[:], id[:])
	if r.traces.Cap()-r.traces.Len() < len(text) {
		r.traces = strings.Builder{}
		r.traces.Grow(len(text) * min(max(64, cap(r.records)), 4096))
	}
	start := r.traces.Len()
	r.traces.Write(text[:])
	r.trace, r.traceID = id, r.traces.String()[start:]
	return r.traceID
}

// implies says whether an event states who belongs to whom.
func implies(event string) bool {
	switch event {
	case semconv.EventBinding, semconv.EventNodeAssigned, semconv.EventNodeUnassigned, semconv.EventNodeInstance:
		return true
	}
	return false
}

// listed says whether a name stands in a list of names.
func listed(list, name string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == name && one != "" {
			return true
		}
	}
	return false
}

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func nanos(t pcommon.Timestamp) int64 {
	if t > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(t)
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
		out = append(out, carried{keys: keys, service: r.Service, there: p.there(md.ResourceMetrics().At(len(out)).Resource().Attributes())})
		return true
	})
	return out
}

// there says which of the names that stamping may add are in a map.
func (p *identityProcessor) there(m pcommon.Map) (names uint32) {
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
