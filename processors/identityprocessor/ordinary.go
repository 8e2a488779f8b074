package identityprocessor

import (
	"encoding/hex"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// log reads one log record; false says that it is not an ordinary one.
func (r *batchReader) log(lr plog.LogRecord) bool {
	c := decoded{sameAs: -1, at: otlp.Nanos(lr.Timestamp()), observed: otlp.Nanos(lr.ObservedTimestamp())}
	return r.ordinary(c, record.Log, lr.EventName(), lr.Attributes(), lr.TraceID(), lr.Body())
}

func (r *batchReader) span(sp ptrace.Span) bool {
	c := decoded{sameAs: -1, at: otlp.Nanos(sp.StartTimestamp()), observed: otlp.Nanos(sp.EndTimestamp())}
	return r.ordinary(c, record.Span, "", sp.Attributes(), sp.TraceID(), pcommon.Value{})
}

func (r *batchReader) ordinary(c decoded, signal record.Signal, event string, attrs pcommon.Map, trace pcommon.TraceID, body pcommon.Value) bool {
	r.reserve(2 * identity.MaxKeysPerRecord)
	start := len(r.keys)
	out := identity.Keys(r.keys[start:start:cap(r.keys)])
	var kinds, bad uint32
	stamped, values := "", false
	for name, v := range attrs.All() {
		role := r.p.names.role(name)
		if role.plain {
			continue
		}
		c.present |= role.stamps
		values = values || role.value
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
			if id = otlp.Text(id); identity.ValidID(id) {
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
		if kinds != c.present&kinds || bad > 0 {
			return false // identifiers under other names
		}
		out = slices.DeleteFunc(out, func(k identity.Key) bool { return otlp.Listed(stamped, k.Kind.Attribute()) })
	}
	own := len(out)
	if own == 0 && !values && trace.IsEmpty() && r.silent(signal, body) {
		return r.add(c, r.inherits, nil, int64(bad))
	}
	for _, k := range r.inherits {
		if out[:own].First(k.Kind) == "" {
			out = out.Add(k.Kind, k.ID)
		}
	}
	if values && signal == record.Log {
		for name, v := range attrs.All() {
			if r.p.names.role(name).value {
				out = r.p.profile.FromValue(out, r.service, name, otlp.Text(v.AsString()))
			}
		}
	}
	if !trace.IsEmpty() {
		out = out.Add(identity.Trace, r.hex(trace))
	}
	if signal == record.Log && body.Type() != pcommon.ValueTypeEmpty {
		var ok bool
		if out, ok = r.fromLine(out, otlp.Text(body.AsString())); !ok {
			out = out[:0]
			r.ignored = true
		}
	}
	var found identity.Subjects
	if len(out) > 0 && &out[0] == &r.keys[:cap(r.keys)][start] {
		r.keys = r.keys[:start+len(out)]
		found = r.found[start : start+len(out) : start+len(out)]
	}
	if own == 0 && len(out) == len(r.inherits) {
		return r.add(c, r.inherits, found, int64(bad))
	}
	return r.add(c, out[:len(out):len(out)], found, int64(bad))
}

// silent says, for next to nothing, that a record has no line to read or one that holds nothing.
func (r *batchReader) silent(signal record.Signal, body pcommon.Value) bool {
	if signal != record.Log || body.Type() == pcommon.ValueTypeEmpty {
		return true
	}
	return body.Type() == pcommon.ValueTypeStr && r.p.profile.HoldsNothing(r.service, body.Str())
}

// add takes a record with what it carries.
func (r *batchReader) add(c decoded, keys identity.Keys, found identity.Subjects, bad int64) bool {
	c.keys, c.found, c.service, c.present = keys, found, r.service, c.present|r.present
	if r.explicit {
		c.present |= markVia
	}
	if c.at == 0 {
		c.at = c.observed
	}
	if c.observed == 0 {
		c.observed = c.at
	}
	if n := bad + r.bad; n > 0 {
		r.t.badIDs(n, r.service)
	}
	r.t.clock(c.at, r.service)
	if len(keys) > 0 && len(keys) == len(r.inherits) && &keys[0] == &r.inherits[0] { // it says what its resource says
		if c.sameAs = r.bare; c.sameAs < 0 {
			r.bare = len(r.records)
		}
	}
	if c.sameAs < 0 {
		c.print = r.p.index.Print(c.keys)
	} else {
		c.print = r.records[c.sameAs].print
	}
	r.records = append(r.records, c)
	return true
}

// fromLine adds what stands in the text of a line; false where the profile ignores the whole record.
func (r *batchReader) fromLine(out identity.Keys, line string) (identity.Keys, bool) {
	if line == "" {
		return out, true
	}
	return r.p.profile.FromLine(out, r.service, line)
}

// hex writes a trace's id into memory of the whole batch.
func (r *batchReader) hex(id pcommon.TraceID) string {
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
