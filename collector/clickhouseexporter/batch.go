package clickhouseexporter

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// batch is the rows of one insert, column by column, and the facts that its records state.
type batch struct {
	key, signal                             []string
	time, end                               []time.Time
	delay                                   []int64 // from time to observed time, nanoseconds; wraps
	service, scope, name                    []string
	severity                                []int32
	severityText, body                      []string
	traceID, spanID, parentID               []string
	spanKind, status, statusMessage, events []string
	resource                                []string // as JSON
	attrs, stamped                          []pairs  // without those that stand in a column
	attrsLifted, stampedLifted              []string // the names of those that do
	ids                                     [len(idKinds)][]string
	keys                                    [][]string // without those that stand in a column
	via                                     []string
	digests                                 []string // what a row says, for the token
	facts                                   []statedFact

	// What is counted once the store has the batch, however often it was tried.
	decoder      otlp.Decoder
	clipper      clipper
	refusedIDs   int
	refusedFacts []error

	latest     record.Attrs // the resource whose text is latestText
	latestText string
}

// idKinds are the identifiers with a column of their own, in the order of eventColumns. trace_id is
// not among them: its column is OTLP's own field.
var idKinds = [...]identity.Kind{
	identity.Allocation, identity.Workflow, identity.Correlation, identity.Node, identity.NodeInstance, identity.Request,
	identity.Task, identity.Claim, identity.Boot, identity.Outbox, identity.Resource, identity.ProviderJob,
}

// keyDigits of a record's key are stored: as many as its ref shows. Records of one time, service and
// allocation whose keys agree that far are one record, as far as anybody will ever see.
const keyDigits = 16

// newBatch has room for so many rows; values longer than limit bytes are cut.
func newBatch(rows, limit int) *batch {
	b := &batch{clipper: clipper{limit: limit}}
	for _, s := range []*[]string{
		&b.key, &b.signal, &b.service, &b.scope, &b.name, &b.severityText, &b.body, &b.traceID, &b.spanID, &b.parentID,
		&b.spanKind, &b.status, &b.statusMessage, &b.events, &b.resource, &b.attrsLifted, &b.stampedLifted, &b.via, &b.digests,
	} {
		*s = make([]string, 0, rows)
	}
	for i := range b.ids {
		b.ids[i] = make([]string, 0, rows)
	}
	b.time, b.end, b.delay = make([]time.Time, 0, rows), make([]time.Time, 0, rows), make([]int64, 0, rows)
	b.attrs, b.stamped = make([]pairs, 0, rows), make([]pairs, 0, rows)
	b.severity, b.keys = make([]int32, 0, rows), make([][]string, 0, rows)
	return b
}

func (b *batch) rows() int { return len(b.key) }

// add appends a record, whose Keys are set. An identifier's column holds what the emitter said, else
// what was stamped.
func (b *batch) add(r *record.Record, key string) {
	b.key = append(b.key, key[:keyDigits])
	b.signal = append(b.signal, r.Signal.String())
	b.time = append(b.time, time.Unix(0, r.Time))
	b.end = append(b.end, time.Unix(0, r.End))
	b.delay = append(b.delay, r.Observed-r.Time)
	b.service = append(b.service, r.Service)
	b.scope = append(b.scope, r.Scope)
	b.name = append(b.name, r.Name)
	b.severity = append(b.severity, int32(r.Severity)) //nolint:gosec // it came from an int32
	b.severityText = append(b.severityText, r.SeverityText)
	b.body = append(b.body, r.Body)
	b.traceID = append(b.traceID, r.TraceID)
	b.spanID = append(b.spanID, r.SpanID)
	b.parentID = append(b.parentID, r.ParentID)
	b.spanKind = append(b.spanKind, r.SpanKind)
	b.status = append(b.status, r.Status)
	b.statusMessage = append(b.statusMessage, r.StatusMessage)
	b.events = append(b.events, eventsText(r.Events))
	b.resource = append(b.resource, b.resourceText(r.Resource))
	var ids [len(idKinds)]string
	for i, kind := range idKinds {
		if ids[i] = r.Keys.First(kind); ids[i] == "" {
			ids[i], _ = r.Stamped.Get(kind.Attribute())
		}
		b.ids[i] = append(b.ids[i], ids[i])
	}
	via, _ := r.Stamped.Get(viaAttribute)
	b.via = append(b.via, via)
	rest, names := b.lift(r.Attrs, &ids, "")
	b.attrs, b.attrsLifted = append(b.attrs, rest), append(b.attrsLifted, names)
	rest, names = b.lift(r.Stamped, &ids, via)
	b.stamped, b.stampedLifted = append(b.stamped, rest), append(b.stampedLifted, names)
	b.keys = append(b.keys, keysWithout(r, &ids))
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

// eventsText is the JSON of a span's events, "" where it has none.
func eventsText(events []record.SpanEvent) string {
	if len(events) == 0 {
		return ""
	}
	text, err := json.Marshal(events)
	if err != nil {
		return "" // text and numbers always marshal
	}
	return string(text)
}
