package clickhouseexporter

import (
	"bytes"
	"encoding/json"

	"github.com/faultline-io/faultline/internal/record"
)

// formText is a form as JSON, "" where there is nothing to say.
func (b *batch) formText(f record.Form) string {
	if f == (record.Form{}) {
		return ""
	}
	text, known := b.forms[f]
	if !known {
		text = asText(f)
		b.forms[f] = text
	}
	return text
}

// extraText is what only few records have as JSON, "" for most.
func extraText(r *record.Record, stamped pairs) string {
	if r.Signal == record.Log && len(stamped) == 0 {
		return ""
	}
	x := record.Extra{Parent: r.ParentID, Kind: r.SpanKind, Status: r.Status, Message: r.StatusMessage, Events: r.Events}
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
