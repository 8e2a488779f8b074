package clickhouse

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// idColumns are the identifiers that a row keeps in columns of their own, named as the attributes are, in
// the order in which the queries list them.
var idColumns = [...]string{
	semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID, semconv.NodeID, semconv.NodeInstanceID, semconv.RequestID,
	semconv.TaskID, semconv.ClaimID, semconv.BootID, semconv.OutboxID, semconv.ResourceUID, semconv.ProviderJob,
}

// scanner makes records of rows. It puts together here what the table's ALIAS columns would in the store
// (attrs, stamped, resource, observed_time): each of them costs a query half a millisecond before it reads.
// The records of one resource share its attributes.
type scanner struct {
	text     string // of the latest resource
	resource record.Attrs
}

// scan makes a record of a row's columns: signal, time, … via, as the queries list them. What stands before
// them goes to before.
func (s *scanner) scan(rows driver.Rows, before ...any) (*record.Record, error) {
	r := &record.Record{Signal: record.Log}
	var (
		signal, events, resource, lifted, stampedLifted, via string

		at, end, ingested time.Time
		delay             int64
		severity          int32
		attrs, stamped    map[string]string
		ids               [len(idColumns)]string
	)
	before = append(before, &signal, &at, &end, &delay, &ingested, &r.Service, &r.Scope, &r.Name, &severity, &r.SeverityText, &r.Body,
		&r.TraceID, &r.SpanID, &r.ParentID, &r.SpanKind, &r.Status, &r.StatusMessage, &events, &resource, &attrs, &lifted, &stamped, &stampedLifted)
	for i := range ids {
		before = append(before, &ids[i])
	}
	if err := rows.Scan(append(before, &via)...); err != nil {
		return nil, err
	}
	if signal == record.Span.String() {
		r.Signal = record.Span
	}
	r.Time, r.End, r.Ingested, r.Severity = at.UnixNano(), end.UnixNano(), ingested.UnixNano(), int(severity)
	r.Observed = r.Time + delay
	r.Attrs, r.Stamped = whole(attrs, lifted, &ids, via), whole(stamped, stampedLifted, &ids, via)
	if err := s.describe(r, resource); err != nil {
		return nil, err
	}
	if events != "" {
		if err := json.Unmarshal([]byte(events), &r.Events); err != nil {
			return nil, fmt.Errorf("span events: %w", err)
		}
	}
	return r, nil
}

// whole gives attributes back those that the row keeps in columns; lifted are their names, joined by commas.
func whole(rest map[string]string, lifted string, ids *[len(idColumns)]string, via string) record.Attrs {
	if lifted == "" {
		return record.FromMap(rest)
	}
	out := make(record.Attrs, 0, len(rest)+strings.Count(lifted, ",")+1)
	for k, v := range rest {
		out = append(out, record.Attr{Key: k, Value: v})
	}
	for name := range strings.SplitSeq(lifted, ",") {
		if name == semconv.IdentityVia {
			out = append(out, record.Attr{Key: name, Value: via})
			continue
		}
		for i, column := range idColumns {
			if name == column {
				out = append(out, record.Attr{Key: column, Value: ids[i]})
			}
		}
	}
	return out.Sort()
}

// describe gives a record its resource, from JSON.
func (s *scanner) describe(r *record.Record, text string) error {
	if text != s.text {
		var m map[string]string
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return fmt.Errorf("resource: %w", err)
		}
		s.text, s.resource = text, record.FromMap(m)
	}
	if text != "" {
		r.Resource = s.resource
	}
	return nil
}

// row is a record at its place in a reading.
type row struct {
	*record.Record
	key string
}
