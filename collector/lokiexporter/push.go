package lokiexporter

import "google.golang.org/protobuf/encoding/protowire"

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
		bytes := 0
		for _, e := range one.entries {
			bytes += e.to - e.from
		}
		to = protowire.AppendTag(to, requestStreams, protowire.BytesType)
		to = protowire.AppendVarint(to, uint64(sizeOfText(one.stream.labels)+bytes))
		to = appendText(to, streamLabels, one.stream.labels)
		if first, last := one.entries[0].from, one.entries[len(one.entries)-1].to; one.stream.sorted && last-first == bytes {
			to = append(to, one.stream.data[first:last]...)
			continue
		}
		for _, e := range one.entries {
			to = append(to, one.stream.data[e.from:e.to]...)
		}
	}
	b.body = to
	return to
}

// appendTime writes a google.protobuf.Timestamp. Times before 1970 do not occur: OTLP has none.
func appendTime(to []byte, nanos int64) []byte {
	seconds, rest := uint64(nanos/1e9), uint64(nanos%1e9) //nolint:gosec // not negative
	to = protowire.AppendVarint(to, uint64(2+protowire.SizeVarint(seconds)+protowire.SizeVarint(rest)))
	to = protowire.AppendTag(to, timeSeconds, protowire.VarintType)
	to = protowire.AppendVarint(to, seconds)
	to = protowire.AppendTag(to, timeNanos, protowire.VarintType)
	return protowire.AppendVarint(to, rest)
}

// sizeOfTime is the size of a Timestamp with its tag.
func sizeOfTime(nanos int64) int {
	seconds, rest := uint64(nanos/1e9), uint64(nanos%1e9) //nolint:gosec // not negative
	return 1 + protowire.SizeBytes(2+protowire.SizeVarint(seconds)+protowire.SizeVarint(rest))
}
