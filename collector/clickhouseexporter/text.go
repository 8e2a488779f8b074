package clickhouseexporter

import (
	"bytes"
	"encoding/json"

	"github.com/faultline-io/faultline/internal/record"
)

// form is what many records of a service have in common beside their resource: a dictionary's entry.
type form struct {
	Scope        string `json:"scope,omitempty"`
	SeverityText string `json:"severity_text,omitempty"`
	Attrs        string `json:"attrs,omitempty"`   // the names of attributes that are the row's identifiers, joined by commas
	Stamped      string `json:"stamped,omitempty"` // the same of what was stamped
	Via          string `json:"via,omitempty"`
}

// formText is a form as JSON, "" where there is nothing to say.
func (b *batch) formText(f form) string {
	if f == (form{}) {
		return ""
	}
	text, known := b.forms[f]
	if !known {
		text = asText(f)
		b.forms[f] = text
	}
	return text
}

// extra is what few records have: what only a span says, and what was stamped and is no identifier.
type extra struct {
	Took    int64              `json:"took,omitempty"` // from its start to its end, nanoseconds; wraps
	Parent  string             `json:"parent,omitempty"`
	Kind    string             `json:"kind,omitempty"`
	Status  string             `json:"status,omitempty"`
	Message string             `json:"message,omitempty"`
	Events  []record.SpanEvent `json:"events,omitempty"`
	Stamped map[string]string  `json:"stamped,omitempty"`
}

// extraText is what only few records have as JSON, "" for most.
func extraText(r *record.Record, stamped pairs) string {
	if r.Signal == record.Log && len(stamped) == 0 {
		return ""
	}
	x := extra{Parent: r.ParentID, Kind: r.SpanKind, Status: r.Status, Message: r.StatusMessage, Events: r.Events}
	if r.Signal == record.Span {
		x.Took = r.End - r.Time
	}
	if len(stamped) > 0 {
		x.Stamped = record.Attrs(stamped).Map()
	}
	return asText(x)
}

// asText is JSON whose words are those of its values: "<" stays what it is.
func asText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "" // text and numbers always marshal
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
