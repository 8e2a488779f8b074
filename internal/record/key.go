package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Key tells one record from another (docs/contract.md §2, "One record"): what the producer calls it,
// else a span's own ids, else a digest of service, time and content. It is text that can be compared
// and stored; Ref is the short form for people.
func (r *Record) Key() string {
	var room [1024]byte
	d := digest(room[:0])
	id, _ := r.Attrs.Get(semconv.EventIDKey)
	switch {
	case id != "":
		d = d.text("event", r.Service, id)
	case r.Signal == Span && r.TraceID != "" && r.SpanID != "":
		d = d.text("span", r.TraceID, r.SpanID)
	default:
		d = d.text("content", r.Service).content(r)
	}
	return d.sum()
}

// Ref is how answers cite a record: "e-" and sixteen hex digits, derived from its key.
func Ref(key string) string { return "e-" + key[:min(16, len(key))] }

// KeyDigits of a record's key are stored, 48 bits: it is asked beside a time and a service, of a nanosecond. Records of one
// time, service and allocation whose keys agree that far are one record, as far as the store will ever see.
const KeyDigits = 12

// Content is a digest of all that the emitter said: two records with one key and different contents
// are a conflict.
func (r *Record) Content() string {
	var room [1024]byte
	return digest(room[:0]).content(r).sum()
}

// digest is what is going to be hashed: written whole, because a hash in small pieces costs twice as much.
type digest []byte

func (d digest) sum() string {
	h := sha256.Sum256(d)
	return hex.EncodeToString(h[:16])
}

func (d digest) text(parts ...string) digest {
	for _, p := range parts {
		d = append(binary.BigEndian.AppendUint64(d, uint64(len(p))), p...)
	}
	return d
}

func (d digest) number(parts ...int64) digest {
	for _, p := range parts {
		d = binary.BigEndian.AppendUint64(d, uint64(p)) //nolint:gosec // a digest keeps the bits
	}
	return d
}

func (d digest) attrs(a Attrs) digest {
	d = d.number(int64(len(a)))
	for i := range a {
		d = d.text(a[i].Key, a[i].Value)
	}
	return d
}

// content leaves out when collectors saw the record, and what they added: neither is the emitter's.
func (d digest) content(r *Record) digest {
	d = d.number(int64(r.Signal), r.Time, r.End, int64(r.Severity))
	d = d.text(r.Service, r.Scope, r.Name, r.SeverityText, r.Body, r.TraceID, r.SpanID, r.ParentID, r.SpanKind, r.Status, r.StatusMessage)
	d = d.attrs(r.Resource).attrs(r.Attrs).number(int64(len(r.Events)))
	for _, e := range r.Events {
		d = d.number(e.Time).text(e.Name).attrs(e.Attrs)
	}
	return d
}
