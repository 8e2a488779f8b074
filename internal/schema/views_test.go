package schema

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// columnsOf lists what SELECT * gives, with types, then what it does not, with what that is made of.
func columnsOf(t *testing.T, conn driver.Conn, table string) []string {
	t.Helper()
	return texts(t, conn, "SELECT concat(name, ' ', type, if(default_kind = '', '', ' made of '), default_expression) FROM system.columns "+
		"WHERE database = currentDatabase() AND table = '"+table+"' ORDER BY default_kind != '', position")
}

func texts(t *testing.T, conn driver.Conn, query string) (out []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// The views have the columns that contrib's exporter makes; its materialized ones are aliases, which are no part of
// SELECT * either. TestContribsColumns holds the copies of its tables to its own text.
func TestViewsHaveContribsColumns(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"logs", "traces", "traces_trace_id_ts"} {
		ddl, err := os.ReadFile("testdata/contrib/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec(t.Context(), string(ddl)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(columnsOf(t, conn, "contrib_"+name), columnsOf(t, conn, "otel_"+name)); d != "" {
			t.Errorf("%s: contrib's table (-) and the view (+) differ:\n%s", name, d)
		}
	}
}

// What Grafana and ClickStack ask runs, and what it is narrowed to reaches the table's indexes.
func TestViewsAnswerWhatIsAskedOfContribsTables(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(t.Context(), `INSERT INTO events (key, signal, time, ingested_time, service, name, severity, body, trace_id, span_id, extra_json, attrs_rest, resource_json, allocation_id, form_json)
SELECT substring(lower(hex(MD5(toString(number)))), 1, 12), if(number % 4 = 0, 'span', 'log'), fromUnixTimestamp64Nano(1772445851000000000 + number * 1000000000, 'UTC'), now64(9),
  concat('svc-', toString(number % 7)), if(number % 4 = 0, 'GET /x', ''), if(number % 100 = 0, 17, 9), concat('body ', toString(number)),
  lower(hex(MD5(toString(intDiv(number, 8))))), leftPad(toString(number), 16, '0'),
  if(number % 4 = 0, concat('{"took":5000000,"kind":"server"', if(number % 100 = 0, ',"status":"error"', ''), ',"events":[{"time":1772445851000000000,"name":"exception","attrs":[{"Key":"exception.message","Value":"no"}]}]}'), ''),
  map('http.route', '/x'), '{"host.name":"h","k8s.pod.name":"h"}', if(number % 4 = 1, 'a-1', ''), '{"severity_text":"INFO","stamped":"allocation_id"}' FROM numbers(40000)`); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(t.Context(), "OPTIMIZE TABLE events FINAL"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query string
		rows  int
		most  int // granules of those that there are, in percent
	}{
		{"SELECT Body FROM otel_logs WHERE ServiceName = 'svc-3' AND Timestamp >= toDateTime64('2026-03-02 10:04:11', 9, 'UTC') AND Timestamp < toDateTime64('2026-03-02 10:05:11', 9, 'UTC') ORDER BY Timestamp DESC LIMIT 100", 7, 40},
		{"SELECT toString(Timestamp) FROM otel_logs WHERE TraceId = lower(hex(MD5('77'))) ORDER BY (toStartOfFiveMinutes(Timestamp), Timestamp) DESC LIMIT 100", 6, 20},
		{"SELECT toString(count()) FROM otel_logs WHERE toStartOfFiveMinutes(Timestamp) >= toStartOfFiveMinutes(NOW() - INTERVAL 1 HOUR) AND SeverityNumber >= 17 GROUP BY SeverityText, toStartOfInterval(Timestamp, INTERVAL 60 second)", 0, 100},
		{"SELECT Body FROM otel_logs WHERE `__otel_materialized_k8s.pod.name` = 'h' AND `__otel_materialized_deployment.environment.name` = '' AND ServiceName = 'svc-3' AND Timestamp >= toDateTime64('2026-03-02 10:04:11', 9, 'UTC') AND Timestamp < toDateTime64('2026-03-02 10:05:11', 9, 'UTC')", 7, 40},
		{"SELECT Body FROM otel_logs WHERE LogAttributes['allocation_id'] = 'a-1' AND hasToken(lower(Body), '41')", 1, 100},
		{"SELECT concat(SpanName, SpanKind, StatusCode, toString(Duration), toString(Events.Name), toString(Events.Attributes), toString(Links.TraceId)) FROM otel_traces WHERE TraceId = lower(hex(MD5('100')))", 2, 20},
		{"SELECT toString(min(Start)) FROM otel_traces_trace_id_ts WHERE TraceId = lower(hex(MD5('77'))) HAVING count() > 0", 1, 20},
		{"WITH lower(hex(MD5('77'))) AS trace_id, (SELECT min(Start) FROM otel_traces_trace_id_ts WHERE TraceId = trace_id) AS start, (SELECT max(End) + 1 FROM otel_traces_trace_id_ts WHERE TraceId = trace_id) AS end SELECT SpanId FROM otel_traces WHERE TraceId = trace_id AND Timestamp >= start AND Timestamp <= end", 2, 20},
		{"SELECT DISTINCT ServiceName FROM otel_traces WHERE ResourceAttributes['host.name'] = 'h' AND SpanAttributes['http.route'] = '/x'", 7, 100},
	} {
		if got := texts(t, conn, c.query); len(got) != c.rows {
			t.Errorf("%s: %d rows, want %d: %.3q", c.query, len(got), c.rows, got)
		}
		plan := strings.Join(texts(t, conn, "EXPLAIN indexes = 1 "+c.query), "\n")
		all := granules.FindAllStringSubmatch(plan, -1)
		if len(all) == 0 {
			continue // nothing left to read
		}
		left, _ := strconv.Atoi(all[len(all)-1][1])
		whole, _ := strconv.Atoi(all[0][2])
		t.Logf("%d of %d granules: %.90s", left, whole, c.query)
		if left*100 > c.most*whole {
			t.Errorf("%s reads %d of %d granules:\n%s", c.query, left, whole, plan)
		}
	}
	if got := texts(t, conn, "SELECT concat(SpanKind, ' ', StatusCode, ' ', toString(Duration), ' ', toString(Events.Attributes)) FROM otel_traces WHERE SpanId = '0000000000000100'"); len(got) != 1 || got[0] != "Server Error 5000000 [{'exception.message':'no'}]" {
		t.Errorf("%q", got)
	}
}
