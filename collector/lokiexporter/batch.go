package lokiexporter

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/faultline-io/faultline/internal/kubeobject"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
)

// entry is where an encoded entry lies in its stream.
type entry struct {
	time     int64
	record   int32 // in document order
	from, to int
}

// stream is the entries of one set of labels.
type stream struct {
	labels  string
	entries []entry
	data    []byte // the entries as they came, one behind the other
	sorted  bool   // so that they lie in the order of their times
}

// batch turns log records into encoded entries, by stream. It is used again and again, by one at a time: its buffers stay.
type batch struct {
	cfg      *Config
	names    *names
	selector *selector
	now      func() time.Time

	body    []byte // of the push under way
	streams map[string]*stream
	order   []*stream
	spare   []*stream // of earlier batches, for their buffers

	decoder  otlp.Decoder
	resource shared // what the records of the resource under way have in common
	own      pairs  // metadata of the record under way
	merged   pairs
	records  int32
	clipped  map[string]int
}

// shared is what all records of a resource and scope have in common.
type shared struct {
	pairs   pairs
	encoded []byte
	labels  []string
	streams [len(severities)]*stream
}

func newBatch(cfg *Config) *batch {
	all := []string{severityLabel}
	for _, l := range cfg.Labels {
		all = append(all, l.Name)
	}
	return &batch{cfg: cfg, names: newNames(all), selector: newSelector(cfg.Labels), now: time.Now,
		streams: map[string]*stream{}, clipped: map[string]int{}}
}

func (b *batch) reset() {
	for _, s := range b.order {
		if len(b.spare) < maxSpare && cap(s.data) <= maxSpareBytes {
			b.spare = append(b.spare, s)
		}
	}
	b.order, b.records, b.decoder = b.order[:0], 0, otlp.Decoder{}
	clear(b.streams)
	clear(b.clipped)
}

// Buffers that are kept for the next batch: so many, and none that grew larger than this.
const (
	maxSpare      = 256
	maxSpareBytes = 4 << 20
)

// add encodes all records, in document order, and brings each stream's entries into the order of their times.
func (b *batch) add(ld plog.Logs) {
	for _, rl := range ld.ResourceLogs().All() {
		var cut int
		b.resource.labels, cut = b.selector.values(rl.Resource().Attributes(), &b.decoder)
		b.clipped[clippedLabel] += cut
		b.resource.streams = [len(severities)]*stream{}
		for _, sl := range rl.ScopeLogs().All() {
			b.scope(rl.Resource().Attributes(), sl.Scope())
			for _, lr := range sl.LogRecords().All() {
				b.record(lr)
			}
		}
	}
	for _, s := range b.order {
		if s.sorted = slices.IsSortedFunc(s.entries, byTime); !s.sorted {
			slices.SortStableFunc(s.entries, byTime)
		}
	}
	b.clipped[clippedUTF8] += b.decoder.Texts
	b.clipped[clippedTime] += b.decoder.Times
	b.clipped[clippedNumber] += b.decoder.Numbers
}

func byTime(a, b entry) int { return cmp.Compare(a.time, b.time) }

// scope takes down what the records of a scope share.
func (b *batch) scope(resource pcommon.Map, scope pcommon.InstrumentationScope) {
	p := &b.resource.pairs
	p.reset()
	for k, v := range resource.All() {
		if !b.selector.used[k] {
			p.add(b.names.of(k), b.decoder.Value(v))
		}
	}
	p.add(scopeName, b.decoder.Text(scope.Name()))
	p.once()
	b.resource.encoded = p.append(b.resource.encoded[:0])
}

// record encodes one.
func (b *batch) record(lr plog.LogRecord) {
	e := entry{time: b.timeOf(lr), record: b.records}
	b.records++

	line := kubeobject.WithholdText(b.decoder.Value(lr.Body()))
	if line == "" {
		line = b.decoder.Text(lr.EventName()) // an event often has nothing else to say
	}
	if len(line) > b.cfg.MaxLineBytes {
		line = record.Truncate(line, b.cfg.MaxLineBytes)
		b.clipped[clippedLine]++
	}
	b.metadata(lr)

	metadata, shared := b.joined()
	size := sizeOfTime(e.time) + sizeOfText(line) + metadata.encoded() + len(shared)
	s := b.stream(severityOf(lr))
	e.from = len(s.data)
	to := protowire.AppendTag(s.data, streamEntries, protowire.BytesType)
	to = protowire.AppendVarint(to, uint64(size)) //nolint:gosec // a size
	to = protowire.AppendTag(to, entryTimestamp, protowire.BytesType)
	to = appendTime(to, e.time)
	to = appendText(to, entryLine, line)
	to = metadata.append(to)
	to = append(to, shared...)
	s.data = to
	e.to = len(s.data)
	s.entries = append(s.entries, e)
}

// timeOf is when it was, else when it was seen; where nobody knows either, now.
func (b *batch) timeOf(lr plog.LogRecord) int64 {
	t := lr.Timestamp()
	if t == 0 {
		t = lr.ObservedTimestamp()
	}
	if t == 0 {
		return b.now().UnixNano()
	}
	return b.decoder.Nanos(t)
}

// metadata collects what the record itself says.
func (b *batch) metadata(lr plog.LogRecord) {
	p := &b.own
	p.reset()
	if id := lr.TraceID(); !id.IsEmpty() {
		p.add(traceName, id.String())
	}
	if id := lr.SpanID(); !id.IsEmpty() {
		p.add(spanName, id.String())
	}
	p.add(eventName, b.decoder.Text(lr.EventName()))
	if text := lr.SeverityText(); text != "" && text != severities[severityOf(lr)] {
		p.add(severityName, b.decoder.Text(text))
	}
	for k, v := range lr.Attributes().All() {
		p.add(b.names.of(k), b.decoder.Value(v))
	}
	p.once()
}

// joined are the record's own metadata and, encoded already, those of its resource, of which a name that the record says, too, is left out.
func (b *batch) joined() (*pairs, []byte) {
	of := &b.resource.pairs
	fits := len(b.own.list)+len(of.list) <= b.cfg.MaxMetadataEntries && b.own.size+of.size <= b.cfg.MaxMetadataBytes
	if fits && !slices.ContainsFunc(of.list, func(one pair) bool { return b.own.has(one.name) }) {
		return &b.own, b.resource.encoded
	}
	b.merged.reset()
	b.merged.list = append(append(b.merged.list, b.own.list...), of.list...)
	b.merged.size = b.own.size + of.size
	b.merged.once()
	b.clipped[clippedMetadata] += b.merged.fit(b.cfg.MaxMetadataEntries, b.cfg.MaxMetadataBytes)
	return &b.merged, nil
}

// stream is the one of the resource under way and a severity.
func (b *batch) stream(severity int) *stream {
	if s := b.resource.streams[severity]; s != nil {
		return s
	}
	labels := b.selector.text(b.resource.labels, severities[severity])
	s := b.streams[labels]
	if s == nil {
		if n := len(b.spare); n > 0 {
			s, b.spare = b.spare[n-1], b.spare[:n-1]
		} else {
			s = new(stream)
		}
		s.labels, s.entries, s.data = labels, s.entries[:0], s.data[:0]
		b.streams[labels] = s
		b.order = append(b.order, s)
	}
	b.resource.streams[severity] = s
	return s
}
