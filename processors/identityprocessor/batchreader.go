package identityprocessor

import (
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// decoded is all that resolving and stamping need to know of one record.
type decoded struct {
	keys         identity.Keys
	print        identity.Print
	answer       *identity.Answer  // what was answered for these keys before, nil where nothing was or it does not hold
	found        identity.Subjects // what the index found of the keys, so that it need not look again
	at, observed int64             // Unix nanoseconds
	service      string
	present      uint32 // names that stamping may add and that the record or its resource has
	sameAs       int    // an earlier record of the same resource with the same keys, -1 where there is none
}

// batchReader reads one batch. Ordinary records are read where they lie: their keys point into the
// batch, in memory that the next batch uses again. A record that is not ordinary (a stated link, baggage, an
// attribute that is a list, two names for one identifier) is decoded as everywhere else.
type batchReader struct {
	p       *identityProcessor
	t       *batchStats
	records []decoded
	keys    []identity.Key
	found   identity.Subjects
	traces  strings.Builder
	trace   pcommon.TraceID // the last one, and how it is written
	traceID string

	// Of the resource at hand.
	resource pcommon.Resource
	inherits identity.Keys
	bare     int // the first record that says what its resource says and no more, -1 before it
	service  string
	present  uint32
	bad      int64 // identifiers on it that are none
	explicit bool  // it names its allocation itself
	ignored  bool  // the profile ignores one of its records
}

var batchReaders = sync.Pool{New: func() any { return &batchReader{} }}

func (p *identityProcessor) read(records int, t *batchStats) *batchReader {
	r := batchReaders.Get().(*batchReader)
	r.p, r.t = p, t
	r.records = slices.Grow(r.records[:0], records)
	r.reserve(4 * records)
	return r
}

// done gives the memory back; nothing that was read may be used any more.
func (r *batchReader) done() {
	clear(r.records)
	clear(r.keys)
	clear(r.found)
	*r = batchReader{records: r.records[:0], keys: r.keys[:0], found: r.found[:0]}
	batchReaders.Put(r)
}

// reserve makes room for keys. What was read before keeps the room that it has.
func (r *batchReader) reserve(n int) {
	if cap(r.keys)-len(r.keys) < n {
		r.keys = make([]identity.Key, 0, max(n, 1024))
		r.found = make(identity.Subjects, max(n, 1024))
	}
	r.found = r.found[:cap(r.found)]
}

// logs reads every log record, in document order, and learns from all of them.
func (r *batchReader) logs(ld plog.Logs) []decoded {
	for _, rl := range ld.ResourceLogs().All() {
		r.enterResource(rl.Resource())
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				if !r.log(lr) {
					bare := plog.NewLogs()
					to := bare.ResourceLogs().AppendEmpty()
					rl.Resource().CopyTo(to.Resource())
					lr.CopyTo(to.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty())
					otlp.Logs(bare, func(rec *record.Record) bool { r.takeDecoded(rec, lr.Attributes()); return true })
				}
			}
		}
		r.leaveResource()
	}
	r.learn()
	return r.records
}

// spans is logs for spans.
func (r *batchReader) spans(td ptrace.Traces) []decoded {
	for _, rs := range td.ResourceSpans().All() {
		r.enterResource(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				if !r.span(sp) {
					bare := ptrace.NewTraces()
					to := bare.ResourceSpans().AppendEmpty()
					rs.Resource().CopyTo(to.Resource())
					sp.CopyTo(to.ScopeSpans().AppendEmpty().Spans().AppendEmpty())
					otlp.Spans(bare, func(rec *record.Record) bool { r.takeDecoded(rec, sp.Attributes()); return true })
				}
			}
		}
		r.leaveResource()
	}
	r.learn()
	return r.records
}

// learn takes what the ordinary records say, unless all of it is known: then there is an answer for these
// keys. One step for all records, then the next: what the processor waits for memory in one record, it
// waits for in many at once.
func (r *batchReader) learn() {
	x := r.p.index
	for i := range r.records {
		if c := &r.records[i]; c.sameAs < 0 {
			c.answer = x.Recall(c.print)
		}
	}
	for i := range r.records {
		c := &r.records[i]
		switch {
		case c.sameAs >= 0:
			c.answer, c.found = r.records[c.sameAs].answer, r.records[c.sameAs].found
		case c.answer == nil || !x.Holds(c.answer):
			c.answer = nil
			x.AddSeenFrom(c.service, c.keys, c.found)
		}
	}
}

// takeDecoded learns from a record that was not ordinary.
func (r *batchReader) takeDecoded(rec *record.Record, attrs pcommon.Map) {
	c := r.p.learn(rec, r.t)
	c.present = r.present
	for name := range attrs.All() {
		c.present |= r.p.names.role(name).stamps
	}
	r.records = append(r.records, c)
}

func (p *identityProcessor) learn(r *record.Record, t *batchStats) decoded {
	r.Keys = p.profile.Keys(r)
	t.inspect(r, p.profile)
	links, err := r.Links()
	for _, f := range links {
		if e := p.index.AddFrom(r.Service, f); e != nil {
			err = e
		}
	}
	if err != nil {
		t.refused(err)
	}
	return decoded{sameAs: -1, keys: r.Keys, print: p.index.Print(r.Keys), at: r.Time, observed: r.Observed, service: r.Service}
}

// leaveResource says on the resource, once, what holds for all its records.
func (r *batchReader) leaveResource() {
	attrs := r.resource.Attributes()
	if !r.explicit || r.ignored || has(attrs, semconv.IdentityVia) {
		return
	}
	attrs.EnsureCapacity(attrs.Len() + 1)
	attrs.PutStr(semconv.IdentityVia, string(identity.Explicit))
}
