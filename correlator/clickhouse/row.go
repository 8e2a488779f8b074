package clickhouse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// scanner makes records of rows. It puts together here what the table's ALIAS columns would in the store
// (attrs, stamped, resource, end_time, …): each of them costs a query before it reads. Records of one resource
// share its attributes, and those of one form what that says.
type scanner struct {
	text     string // of the latest resource
	resource record.Attrs
	forms    map[string]record.Form
}

// scan makes a record of a row's columns: signal, time, … extra_json, as the queries list them. What stands before
// them goes to before.
func (s *scanner) scan(rows driver.Rows, before ...any) (*record.Record, error) {
	r := &record.Record{Signal: record.Log}
	var (
		signal, shared, resource, few string

		at, ingested time.Time
		delay        int64
		severity     int32
		attrs        map[string]string
		keys         []string
		ids          = make([]string, len(idColumns))
	)
	before = append(before, &signal, &at, &delay, &ingested, &r.Service, &r.Name, &severity, &r.Body, &r.TraceID, &r.SpanID)
	for i := range ids {
		before = append(before, &ids[i])
	}
	if err := rows.Scan(append(before, &keys, &shared, &resource, &attrs, &few)...); err != nil {
		return nil, err
	}
	r.Time, r.Ingested, r.Severity = at.UnixNano(), ingested.UnixNano(), int(severity)
	r.Observed = r.Time + delay
	f, err := s.form(shared)
	if err != nil {
		return nil, err
	}
	r.Scope, r.SeverityText = f.Scope, f.SeverityText
	x := record.Extra{}
	if few != "" {
		if err := json.Unmarshal([]byte(few), &x); err != nil {
			return nil, fmt.Errorf("extra_json: %w", err)
		}
	}
	if signal == record.Span.String() {
		r.Signal = record.Span
		r.End, r.ParentID, r.SpanKind, r.Status, r.StatusMessage, r.Events = r.Time+x.Took, x.Parent, x.Kind, x.Status, x.Message, x.Events
	}
	r.Attrs, r.Stamped = whole(attrs, f.Attrs, ids, keys, f.Via), whole(x.Stamped, f.Stamped, ids, keys, f.Via)
	return r, s.describe(r, resource)
}

// whole gives attributes back those that the row keeps as its identifiers; hoisted are their names, joined by commas.
func whole(rest map[string]string, hoisted string, ids []string, keys []string, via string) record.Attrs {
	if hoisted == "" {
		return record.FromMap(rest)
	}
	out := make(record.Attrs, 0, len(rest)+strings.Count(hoisted, ",")+1)
	for k, v := range rest {
		out = append(out, record.Attr{Key: k, Value: v})
	}
	for name := range strings.SplitSeq(hoisted, ",") {
		out = append(out, record.Attr{Key: name, Value: identifier(name, ids, keys, via)})
	}
	return out.Sort()
}

// identifier is what the row says once: in a column, or as the first key of its kind.
func identifier(name string, ids []string, keys []string, via string) string {
	if name == semconv.IdentityVia {
		return via
	}
	if i := slices.Index(idColumns, name); i >= 0 {
		return ids[i]
	}
	kind := identity.KindOfAttribute(name).String() + ":"
	for _, k := range keys {
		if id, ok := strings.CutPrefix(k, kind); ok {
			return id
		}
	}
	return ""
}

// form reads a form from JSON.
func (s *scanner) form(text string) (record.Form, error) {
	f, known := s.forms[text]
	if known || text == "" {
		return f, nil
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return f, fmt.Errorf("form_json: %w", err)
	}
	if s.forms == nil {
		s.forms = map[string]record.Form{}
	}
	s.forms[text] = f
	return f, nil
}

// describe gives a record its resource, from JSON; "" is none.
func (s *scanner) describe(r *record.Record, text string) error {
	if text == "" {
		return nil
	}
	if text != s.text {
		var m map[string]string
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return fmt.Errorf("resource_json: %w", err)
		}
		s.text, s.resource = text, record.FromMap(m)
	}
	r.Resource = s.resource
	return nil
}

// row is a record at its place in a reading.
type row struct {
	*record.Record
	key string
}
