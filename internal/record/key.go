package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Key tells one record from another (telemetry contract §2, "One record"): what the producer calls it,
// else a span's own ids, else a digest of service, time and content. It is text that can be compared
// and stored; Ref is the short form for people.
func (r *Record) Key() string {
	d := digest{sha256.New()}
	id, _ := r.Attrs.Get(semconv.EventIDKey)
	switch {
	case id != "":
		d.text("event", r.Service, id)
	case r.Signal == Span && r.TraceID != "" && r.SpanID != "":
		d.text("span", r.TraceID, r.SpanID)
	default:
		d.text("content", r.Service)
		d.content(r)
	}
	return hex.EncodeToString(d.Sum(nil)[:16])
}

// Ref is how answers cite a record: "e-" and sixteen hex digits, derived from its key.
func Ref(key string) string { return "e-" + key[:min(16, len(key))] }

// Content is a digest of all that the emitter said: two records with one key and different contents
// are a conflict.
func (r *Record) Content() string {
	d := digest{sha256.New()}
	d.content(r)
	return hex.EncodeToString(d.Sum(nil)[:16])
}

type digest struct{ hash.Hash }

func (d digest) text(parts ...string) {
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		d.Write(n[:])
		d.Write([]byte(p))
	}
}

func (d digest) number(parts ...int64) {
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(p)) //nolint:gosec // a digest keeps the bits
		d.Write(n[:])
	}
}

func (d digest) attrs(a Attrs) {
	d.number(int64(len(a)))
	for i := range a {
		d.text(a[i].Key, a[i].Value)
	}
}

// content leaves out when collectors saw the record, and what they added: neither is the emitter's.
func (d digest) content(r *Record) {
	d.number(int64(r.Signal), r.Time, r.End, int64(r.Severity))
	d.text(r.Service, r.Scope, r.Name, r.SeverityText, r.Body, r.TraceID, r.SpanID, r.ParentID, r.SpanKind, r.Status, r.StatusMessage)
	d.attrs(r.Resource)
	d.attrs(r.Attrs)
	d.number(int64(len(r.Events)))
	for _, e := range r.Events {
		d.number(e.Time)
		d.text(e.Name)
		d.attrs(e.Attrs)
	}
}
