package clickhouse

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/record"
)

// scan makes a record of a row's columns: signal, time, … stamped, as the queries list them. What
// stands before them goes to before.
func scan(rows driver.Rows, before ...any) (*record.Record, error) {
	r := &record.Record{Signal: record.Log}
	var (
		signal, events                string
		at, end, observed, ingested   time.Time
		severity                      int32
		resource, attributes, stamped map[string]string
	)
	if err := rows.Scan(append(before, &signal, &at, &end, &observed, &ingested, &r.Service, &r.Scope, &r.Name, &severity, &r.SeverityText, &r.Body,
		&r.TraceID, &r.SpanID, &r.ParentID, &r.SpanKind, &r.Status, &r.StatusMessage, &events, &resource, &attributes, &stamped)...); err != nil {
		return nil, err
	}
	if signal == record.Span.String() {
		r.Signal = record.Span
	}
	r.Time, r.End, r.Observed, r.Ingested, r.Severity = at.UnixNano(), end.UnixNano(), observed.UnixNano(), ingested.UnixNano(), int(severity)
	r.Resource, r.Attrs, r.Stamped = record.FromMap(resource), record.FromMap(attributes), record.FromMap(stamped)
	if events != "" {
		if err := json.Unmarshal([]byte(events), &r.Events); err != nil {
			return nil, fmt.Errorf("span events: %w", err)
		}
	}
	return r, nil
}

// row is a record at its place in a reading.
type row struct {
	*record.Record
	key string
}
