package clickhouseexporter

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
)

var quiet = slog.New(slog.DiscardHandler)

func connect(t testing.TB, dsn string) driver.Conn {
	t.Helper()
	conn, err := schema.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// row is what the test reads back: the record as it is rebuilt, and what stands beside it.
type row struct {
	*record.Record
	key  string
	ids  map[string]string
	keys []string
	via  string
}

// readAll rebuilds every record from its row, in order of time and key.
func readAll(t testing.TB, conn driver.Conn) []row {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT key, toString(signal), time, end_time, observed_time, ingested_time, service, scope, name,
severity, severity_text, body, trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events, resource, attrs, stamped,
allocation_id, workflow_id, node_id, node_instance_id, keys, via FROM records ORDER BY time, key`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out []row
	for rows.Next() {
		r := row{Record: &record.Record{}, ids: map[string]string{}}
		var signal, events, allocation, workflow, node, instance string
		var at, end, observed, ingested time.Time
		var severity int32
		var resource, attrs, stamped map[string]string
		if err := rows.Scan(&r.key, &signal, &at, &end, &observed, &ingested, &r.Service, &r.Scope, &r.Name,
			&severity, &r.SeverityText, &r.Body, &r.TraceID, &r.SpanID, &r.ParentID, &r.SpanKind, &r.Status, &r.StatusMessage,
			&events, &resource, &attrs, &stamped, &allocation, &workflow, &node, &instance, &r.keys, &r.via); err != nil {
			t.Fatal(err)
		}
		r.Signal = record.Log
		if signal == record.Span.String() {
			r.Signal = record.Span
		}
		r.Time, r.End, r.Observed, r.Ingested = at.UnixNano(), end.UnixNano(), observed.UnixNano(), ingested.UnixNano()
		r.Severity = int(severity)
		r.Resource, r.Attrs, r.Stamped = record.FromMap(resource), record.FromMap(attrs), record.FromMap(stamped)
		if events != "" {
			if err := json.Unmarshal([]byte(events), &r.Events); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range r.keys {
			kind, id, _ := strings.Cut(text, ":")
			r.Keys = r.Keys.Add(identity.ParseKind(kind), id)
		}
		for name, id := range map[string]string{"allocation_id": allocation, "workflow_id": workflow, "node_id": node, "node_instance_id": instance} {
			if id != "" {
				r.ids[name] = id
			}
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func count(t testing.TB, conn driver.Conn, query string) int {
	t.Helper()
	var n uint64
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return int(n)
}
