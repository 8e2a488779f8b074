package telemetry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// errPack is the error of bytes that Pack did not write.
var errPack = errors.New("not a pack of records")

// unpacker reads packs. Records of one service have one source, so that they are sent together.
type unpacker struct {
	sources map[string]*Source

	in   []byte
	seen []string
	time int64
	span SpanContext
	bad  bool // in was too short, or said what nobody writes; what is read then is nothing
}

// unpack appends the records of one pack.
func (u *unpacker) unpack(b []byte, records []Record) ([]Record, error) {
	if len(b) == 0 || b[0] != packVersion {
		return records, fmt.Errorf("%w: version", errPack)
	}
	u.in, u.seen, u.time, u.span, u.bad = b[1:], u.seen[:0], 0, SpanContext{}, false
	for len(u.in) > 0 && !u.bad {
		kind, s := u.byte(), u.source()
		switch kind {
		case packedLog:
			records = append(records, Record{source: s, log: u.log()})
		case packedSpan:
			records = append(records, Record{source: s, span: u.whole()})
		default:
			u.bad = true
		}
	}
	if u.bad {
		return records, errPack
	}
	return records, nil
}

func (u *unpacker) source() *Source {
	service := u.text()
	resource := u.attributes()
	key := fmt.Sprint(service, resource)
	s, ok := u.sources[key]
	if !ok {
		s = &Source{service: service, resource: resource}
		u.sources[key] = s
	}
	return s
}

// take is the next n bytes, nil where there are fewer.
func (u *unpacker) take(n uint64) []byte {
	if u.bad = u.bad || n > uint64(len(u.in)); u.bad {
		return nil
	}
	b := u.in[:n]
	u.in = u.in[n:]
	return b
}

func (u *unpacker) byte() byte {
	if b := u.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (u *unpacker) number() uint64 {
	v, n := binary.Uvarint(u.in)
	u.bad = u.bad || n <= 0
	u.take(uint64(max(n, 0)))
	return v
}

func (u *unpacker) signed() int64 {
	v, n := binary.Varint(u.in)
	u.bad = u.bad || n <= 0
	u.take(uint64(max(n, 0)))
	return v
}

func (u *unpacker) at() time.Time {
	u.time += u.signed()
	return time.Unix(0, u.time)
}

func (u *unpacker) text() string {
	n := u.number()
	which := n >> 2
	switch n & 3 {
	case literal:
		v := string(u.take(which))
		if len(v) > shortText {
			u.seen = append(u.seen, v)
		}
		return v
	case word:
		if which < uint64(len(words)) {
			return words[which]
		}
	case again:
		if which < uint64(len(u.seen)) {
			return u.seen[which]
		}
	}
	u.bad = true
	return ""
}

func (u *unpacker) context() SpanContext {
	c := u.span
	switch u.byte() {
	case noSpan:
		return SpanContext{}
	case sameSpan:
	case fullSpan:
		copy(c.Trace[:], u.take(16))
		copy(c.Span[:], u.take(8))
	case sameTrace:
		copy(c.Span[:], u.take(8))
	default:
		u.bad = true
	}
	u.span = c
	return c
}

func (u *unpacker) attributes() []slog.Attr {
	n := u.number()
	if u.bad = u.bad || n > uint64(len(u.in)); u.bad { // each takes more than a byte
		return nil
	}
	out := make([]slog.Attr, 0, n)
	for range n {
		a := slog.Attr{Key: u.text()}
		switch u.byte() {
		case packedText:
			a.Value = slog.StringValue(u.text())
		case packedInt:
			a.Value = slog.Int64Value(u.signed())
		case packedUint:
			a.Value = slog.Uint64Value(u.number())
		case packedFalse:
			a.Value = slog.BoolValue(false)
		case packedTrue:
			a.Value = slog.BoolValue(true)
		case packedFloat:
			if b := u.take(8); b != nil {
				a.Value = slog.Float64Value(math.Float64frombits(binary.LittleEndian.Uint64(b)))
			}
		default:
			u.bad = true
		}
		out = append(out, a)
	}
	return out
}

func (u *unpacker) log() *logRecord {
	return &logRecord{
		time: u.at(), observed: u.at(), severity: plog.SeverityNumber(u.number()), name: u.text(), body: u.text(), span: u.context(), attrs: attributes{said: u.attributes()},
	}
}

func (u *unpacker) whole() *spanRecord {
	return &spanRecord{
		start: u.at(), end: u.at(), kind: ptrace.SpanKind(u.number()), name: u.text(),
		parent: u.context(), self: u.context(), link: u.context(), failed: u.byte() == packedTrue, message: u.text(), attrs: attributes{said: u.attributes()},
	}
}
