package telemetry

import (
	"encoding/binary"
	"log/slog"
	"math"
	"slices"
	"time"
)

// packVersion is the first byte of a pack. Packs outlive their process, and maybe its version: whatever
// changes their form or the order of words gets another one, and Unpack goes on reading this one.
const packVersion = 1

// Kinds of records and of values in a pack.
const (
	packedLog  = 1
	packedSpan = 2

	packedText  = 0
	packedInt   = 1
	packedUint  = 2
	packedFalse = 3
	packedTrue  = 4
	packedFloat = 5
)

// How a pack writes a text: the two low bits of a number; the others say how long it is, or which one.
const (
	literal = 0
	word    = 1 // of words
	again   = 2 // a literal that has been in this pack before
)

// How a pack names a span.
const (
	noSpan    = 0
	sameSpan  = 1 // as the last one that was named
	sameTrace = 2
	fullSpan  = 3
)

// again is worth it for texts of more than so many bytes, and looked for among so many that were written last: a
// transaction that tells of thousands of things has most of its texts nearby.
const (
	shortText = 3
	lookBack  = 64
)

// pack writes records shortly: what a transaction tells is written while it holds its rows, so it is a
// fifth of OTLP, and becomes OTLP when it is shipped.
type pack struct {
	out  []byte
	seen []string
	time int64 // the last one; times are written as differences
	span SpanContext
}

// Pack makes what Unpack reads of records; those that are none are left out.
func Pack(records []Record) Parcel {
	p := pack{out: make([]byte, 0, 192*len(records)+64), seen: make([]string, 0, 16)}
	p.out = append(p.out, packVersion)
	n := 0
	for _, r := range records {
		if !r.Something() {
			continue
		}
		n++
		if r.log != nil {
			p.out = append(p.out, packedLog)
		} else {
			p.out = append(p.out, packedSpan)
		}
		p.text(r.source.service)
		p.attributes(&attributes{said: r.source.resource})
		if r.log != nil {
			p.log(r.log)
		} else {
			p.whole(r.span)
		}
	}
	return Parcel{Pack: p.out, Records: n}
}

func (p *pack) number(n uint64) { p.out = binary.AppendUvarint(p.out, n) }

func (p *pack) at(t time.Time) {
	n := t.UnixNano()
	p.out = binary.AppendVarint(p.out, n-p.time)
	p.time = n
}

func (p *pack) text(v string) {
	if len(v) <= longestWord {
		if i, ok := wordNumbers[v]; ok {
			p.number(i<<2 | word)
			return
		}
	}
	if len(v) > shortText {
		near := max(0, len(p.seen)-lookBack)
		if i := slices.Index(p.seen[near:], v); i >= 0 {
			p.number(uint64(near+i)<<2 | again)
			return
		}
		p.seen = append(p.seen, v)
	}
	p.number(uint64(len(v))<<2 | literal)
	p.out = append(p.out, v...)
}

func (p *pack) context(c SpanContext) {
	c.State = "" // work that is packed is the root of a trace of its own, or lies in one
	switch {
	case c == SpanContext{}:
		p.out = append(p.out, noSpan)
		return
	case c == p.span:
		p.out = append(p.out, sameSpan)
	case c.Trace == p.span.Trace:
		p.out = append(append(p.out, sameTrace), c.Span[:]...)
	default:
		p.out = append(append(append(p.out, fullSpan), c.Trace[:]...), c.Span[:]...)
	}
	p.span = c
}

func (p *pack) attributes(attrs *attributes) {
	p.number(uint64(attrs.size()))
	attrs.each(p.attribute)
}

func (p *pack) attribute(a slog.Attr) {
	p.text(a.Key)
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindInt64:
		p.out = binary.AppendVarint(append(p.out, packedInt), v.Int64())
	case slog.KindUint64:
		p.out = binary.AppendUvarint(append(p.out, packedUint), v.Uint64())
	case slog.KindBool:
		if v.Bool() {
			p.out = append(p.out, packedTrue)
		} else {
			p.out = append(p.out, packedFalse)
		}
	case slog.KindFloat64:
		p.out = binary.LittleEndian.AppendUint64(append(p.out, packedFloat), math.Float64bits(v.Float64()))
	default:
		p.out = append(p.out, packedText)
		p.text(textOf(v))
	}
}

func (p *pack) log(l *logRecord) {
	p.at(l.time)
	p.at(l.observed)
	p.number(uint64(l.severity))
	p.text(l.name)
	p.text(l.body)
	p.context(l.span)
	p.attributes(&l.attrs)
}

func (p *pack) whole(s *spanRecord) {
	p.at(s.start)
	p.at(s.end)
	p.number(uint64(s.kind))
	p.text(s.name)
	p.context(s.parent)
	p.context(s.self)
	p.context(s.link)
	if s.failed {
		p.out = append(p.out, packedTrue)
	} else {
		p.out = append(p.out, packedFalse)
	}
	p.text(s.message)
	p.attributes(&s.attrs)
}
