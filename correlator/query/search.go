package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// Query looks for records by what they say. All that it names must hold; zero values ask for nothing.
type Query struct {
	// Text is looked for word by word, in any order and case: all of them in the body, else in what a
	// span says of itself (name, status message, exceptions), else in the name and attributes of a log
	// record without a body. A word is a run of ASCII letters, digits and anything that is not ASCII.
	Text string
	// Severity is the least OTLP severity number, as the record states it.
	Severity int
	Services []string
	Layer    string
	// Attrs are attributes of the record or its resource. Identifiers are those that the record carries,
	// the first of each kind, or that it resolves to.
	Attrs []record.Attr
	// From and To bound the stamped time, [From, To); 0 is open. AsOf bounds the ingested time.
	From, To, AsOf int64
}

// Bounds of a query.
const (
	maxSearched = 1024 // bytes of text
	maxQueryIDs = 32   // services, attributes
)

// Validate says what is wrong with a query.
func (q Query) Validate() error {
	switch {
	case len(q.Text) > maxSearched:
		return fmt.Errorf("text of more than %d bytes %w", maxSearched, ErrSelection)
	case q.Text != "" && len(q.Words()) == 0:
		return fmt.Errorf("text %q without a letter or digit %w", q.Text, ErrSelection)
	case len(q.Services) > maxQueryIDs || len(q.Attrs) > maxQueryIDs:
		return fmt.Errorf("more than %d services or attributes %w", maxQueryIDs, ErrSelection)
	}
	return validRange(q.From, q.To)
}

// Words are what Text looks for, in lower case, each once.
func (q Query) Words() []string {
	words := words(q.Text)
	slices.Sort(words)
	return slices.Compact(words)
}

func words(text string) []string {
	return strings.FieldsFunc(lower(text), func(r rune) bool {
		return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// lower turns ASCII letters alone, as the store does.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Matches says whether an event is what a query looks for, its AsOf apart.
func (q Query) Matches(e *correlator.Event) bool {
	if !within(e.Time, q.From, q.To) || e.Record.Severity < q.Severity || q.Layer != "" && e.Layer != q.Layer {
		return false
	}
	if len(q.Services) > 0 && !slices.Contains(q.Services, e.Service) {
		return false
	}
	for _, a := range q.Attrs {
		if !carries(e, a) {
			return false
		}
	}
	return q.Text == "" || q.says(e.Record)
}

func carries(e *correlator.Event, a record.Attr) bool {
	if identity.KindOfAttribute(a.Key) != identity.NoKind {
		return e.IDs()[a.Key] == a.Value
	}
	for _, of := range [...]record.Attrs{e.Attrs, e.Resource} {
		if v, ok := of.Get(a.Key); ok && v == a.Value {
			return true
		}
	}
	return false
}

func (q Query) says(r *record.Record) bool {
	wanted := q.Words()
	holds := func(text string) bool {
		have := words(text)
		return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(have, w) })
	}
	if holds(r.Body) {
		return true
	}
	said := []string{r.Name, r.StatusMessage}
	switch {
	case r.Signal == record.Span:
		for _, e := range r.Events {
			said = append(said, e.Name)
			for _, a := range e.Attrs {
				said = append(said, a.Key, a.Value)
			}
		}
	case r.Body == "":
		for _, a := range r.Attrs {
			said = append(said, a.Value)
		}
	}
	return holds(strings.Join(said, " "))
}

// TooMuch says that a question would read more than one question may.
type TooMuch struct {
	Limit string // "than 50000000 rows to be read"
}

func (e *TooMuch) Error() string {
	return "an answer takes more " + e.Limit + ": narrow the time (from, to), or name a service, a layer, or an identifier such as allocation_id or node_id"
}
