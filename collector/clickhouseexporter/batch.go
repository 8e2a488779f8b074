package clickhouseexporter

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// batch is the rows of one insert, column by column, and the links that its records state.
type batch struct {
	key, signal     []string
	time            []time.Time
	delay           []int64 // from time to observed time, nanoseconds; wraps
	service, name   []string
	severity        []int32
	body            []string
	traceID, spanID []string
	ids             [][]string // in the order of ownKinds
	keys            [][]string // without those that stand in a column
	form            []string   // what many share, as JSON
	resource        []string   // as JSON
	attrs           []pairs    // without those that are identifiers of the row
	extra           []string   // what few have, as JSON
	digests         []string   // what a row says, for the token
	links           []statedLink

	// What is counted once the store has the batch, however often it was tried.
	decoder      otlp.Decoder
	truncater    truncater
	refusedIDs   int
	refusedLinks []error

	latest     record.Attrs // the resource whose text is latestText
	latestText string
	forms      map[record.Form]string // as JSON
}

// newBatch has room for so many rows; values longer than limit bytes are cut.
func newBatch(rows, limit int) *batch {
	b := &batch{truncater: truncater{limit: limit}, forms: map[record.Form]string{}}
	for _, s := range []*[]string{
		&b.key, &b.signal, &b.service, &b.name, &b.body, &b.traceID, &b.spanID, &b.form, &b.resource, &b.extra, &b.digests,
	} {
		*s = make([]string, 0, rows)
	}
	b.ids = make([][]string, len(ownKinds))
	for i := range b.ids {
		b.ids[i] = make([]string, 0, rows)
	}
	b.time, b.delay = make([]time.Time, 0, rows), make([]int64, 0, rows)
	b.attrs, b.severity, b.keys = make([]pairs, 0, rows), make([]int32, 0, rows), make([][]string, 0, rows)
	return b
}

func (b *batch) rows() int { return len(b.key) }

// add appends a record, whose Keys are set. An identifier is what the emitter said, else what was stamped.
func (b *batch) add(r *record.Record, key string) {
	b.key = append(b.key, key[:record.KeyDigits])
	b.signal = append(b.signal, r.Signal.String())
	b.time = append(b.time, time.Unix(0, r.Time))
	b.delay = append(b.delay, r.Observed-r.Time)
	b.service = append(b.service, r.Service)
	b.name = append(b.name, r.Name)
	b.severity = append(b.severity, int32(r.Severity)) //nolint:gosec // it came from an int32
	b.body = append(b.body, r.Body)
	b.traceID = append(b.traceID, r.TraceID)
	b.spanID = append(b.spanID, r.SpanID)
	b.resource = append(b.resource, b.resourceText(r.Resource))
	ids := identifiersOf(r)
	for i, kind := range ownKinds {
		b.ids[i] = append(b.ids[i], ids[kind])
	}
	b.keys = append(b.keys, keysWithout(r, &ids))
	f := record.Form{Scope: r.Scope, SeverityText: r.SeverityText}
	f.Via, _ = r.Stamped.Get(viaAttribute)
	var attrs, stamped pairs
	attrs, f.Attrs = b.hoist(r.Attrs, &ids, "")
	stamped, f.Stamped = b.hoist(r.Stamped, &ids, f.Via)
	b.attrs = append(b.attrs, attrs)
	b.form = append(b.form, b.formText(f))
	b.extra = append(b.extra, extraText(r, stamped))
	b.digests = append(b.digests, says(r, key))
}

// says covers all that the emitter said. A key that is a digest of the content does so by itself; one
// that the producer chose does not.
func says(r *record.Record, key string) string {
	if id, _ := r.Attrs.Get(semconv.EventIDKey); id == "" && r.Signal == record.Log {
		return key
	}
	return key + r.Content()
}

// token names the content of rows [from, to): the same records give the same token, whenever and by
// whichever process they are sent.
func (b *batch) token(from, to int) string {
	h := sha256.New()
	for _, d := range b.digests[from:to] {
		h.Write([]byte(d))
	}
	return hex.EncodeToString(h.Sum(nil))
}
