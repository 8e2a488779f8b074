package lokiexporter

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// push is what one request carries: entries of one stream, or of several.
type push []part

// part is entries of one stream in a push.
type part struct {
	stream  *stream
	entries []entry
}

func (p push) entries() (n int) {
	for _, one := range p {
		n += len(one.entries)
	}
	return n
}

// halves splits it: between two streams, else in the middle of the one.
func (p push) halves() (push, push) {
	if len(p) > 1 {
		return p[:len(p)/2], p[len(p)/2:]
	}
	middle := len(p[0].entries) / 2
	return push{{p[0].stream, p[0].entries[:middle]}}, push{{p[0].stream, p[0].entries[middle:]}}
}

// pushes cuts the streams into pushes within the bounds. A single entry beyond them is a push of its own.
func (b *batch) pushes() (out []push) {
	var now push
	bytes, count := 0, 0
	flush := func() {
		if count > 0 {
			out = append(out, now)
		}
		now, bytes, count = nil, 0, 0
	}
	for _, s := range b.order {
		if len(now) >= b.cfg.StreamsPerPush {
			flush()
		}
		from := 0
		bytes += len(s.labels)
		for i, e := range s.entries {
			size := e.to - e.from
			if count > 0 && (bytes+size > b.cfg.MaxPushBytes || count >= b.cfg.MaxPushEntries) {
				if i > from {
					now = append(now, part{s, s.entries[from:i]})
				}
				flush()
				from, bytes = i, len(s.labels)
			}
			bytes += size
			count++
		}
		if from < len(s.entries) {
			now = append(now, part{s, s.entries[from:]})
		}
	}
	flush()
	return out
}

// encode writes the push as a PushRequest. What it returns holds until the next push.
func (b *batch) encode(p push) []byte {
	to := b.body[:0]
	for _, one := range p {
		size := sizeOfText(one.stream.labels)
		for _, e := range one.entries {
			size += e.to - e.from
		}
		to = protowire.AppendTag(to, requestStreams, protowire.BytesType)
		to = protowire.AppendVarint(to, uint64(size))
		to = appendText(to, streamLabels, one.stream.labels)
		for _, e := range one.entries {
			to = append(to, b.arena[e.from:e.to]...)
		}
	}
	b.body = to
	return to
}

// appendTime writes a google.protobuf.Timestamp. Times before 1970 do not occur: OTLP has none.
func appendTime(to []byte, nanos int64) []byte {
	var one [2 * (1 + binary.MaxVarintLen64)]byte
	said := one[:0]
	said = protowire.AppendTag(said, timeSeconds, protowire.VarintType)
	said = protowire.AppendVarint(said, uint64(nanos/1e9))
	said = protowire.AppendTag(said, timeNanos, protowire.VarintType)
	said = protowire.AppendVarint(said, uint64(nanos%1e9))
	return protowire.AppendBytes(to, said)
}
