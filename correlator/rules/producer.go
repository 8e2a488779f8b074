package rules

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// decodes are the words of who cannot read a message.
var decodes = needles.Of("decode", "unmarshal", "deserializ", "deserialis", "unknown field", "unknown variant", "schema", "cannot parse", "parse error", "avro", "protobuf", "envelope")

// wroteOf is the layer of who wrote the row of the outbox of which a record tells; "" where it names none, or nobody tells of its writing.
func wroteOf(c *correlator.Case, e *correlator.Event) string {
	id := e.Own(identity.Outbox)
	if id == "" {
		return ""
	}
	for _, row := range c.Lifecycle.Outbox {
		if first := row.Changes[0]; row.ID == id && first.Event != nil && first.To == semconv.Pending {
			return first.Event.Layer
		}
	}
	return ""
}
