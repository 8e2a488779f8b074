package lokiexporter

import (
	"strings"

	"github.com/prometheus/otlptranslator"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// What a log record has in fields of its own becomes structured metadata under these names.
const (
	viaName      = "via"
	traceName    = "trace_id"
	spanName     = "span_id"
	eventName    = "event_name"
	scopeName    = "scope_name"
	severityName = "severity_text"
)

// takenPrefix stands before the name of an attribute that is the name of a label, or of what the identity processor says.
const takenPrefix = "attribute_"

// identifiers are the names by which records are found: they are the last to go where there is no room for all.
var identifiers = func() map[string]bool {
	out := map[string]bool{viaName: true, spanName: true}
	for k := range identity.Kinds() {
		out[k.Attribute()] = true
	}
	return out
}()

// isIdentifier says whether an attribute names an identifier, also in its dotted form.
func isIdentifier(attribute string) bool { return identifiers[strings.ReplaceAll(attribute, ".", "_")] }

// maxNames is how many names of attributes are remembered at a time.
const maxNames = 8192

// names gives the names of structured metadata to attributes, by Loki's own rule for OTLP. Loki would do it for each record
// again, and answers a whole push with 500, over and over, for one name that cannot be made one.
type names struct {
	taken map[string]bool
	known map[string]string
}

func newNames(labels []string) *names {
	n := &names{taken: map[string]bool{viaName: true}, known: map[string]string{}}
	for _, l := range labels {
		n.taken[l] = true
	}
	return n
}

// of is the name for an attribute; one string for all records, so that equal names are found equal at once.
func (n *names) of(attribute string) string {
	if name, ok := n.known[attribute]; ok {
		return name
	}
	if len(n.known) >= maxNames {
		clear(n.known)
	}
	name := n.make(attribute)
	n.known[strings.Clone(attribute)] = name
	return name
}

func (n *names) make(attribute string) string {
	if attribute == semconv.IdentityVia {
		return viaName
	}
	namer := otlptranslator.LabelNamer{}
	name, err := namer.Build(strings.ToValidUTF8(attribute, "_"))
	if err != nil || strings.HasPrefix(name, "__") { // empty, or only of what no name has; or Loki's own, such as __error__
		return takenPrefix + strings.Trim(name, "_")
	}
	if n.taken[name] {
		return takenPrefix + name
	}
	return strings.Clone(name)
}
