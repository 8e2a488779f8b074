package storebench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
)

// RivalModule is the contrib exporter whose tables ours are measured beside.
const RivalModule = "github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"

// RivalVersion is the one that is measured.
const RivalVersion = "v0.161.0"

// ErrNoRival says that the contrib exporter's module is not at hand.
var ErrNoRival = errors.New("the contrib exporter's module is not at hand")

// RivalSource finds the folder of the contrib exporter's SQL in the module cache; it is fetched where it is missing.
func RivalSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", RivalModule+"@"+RivalVersion).Output()
	if err != nil {
		return "", fmt.Errorf("%w: go mod download: %w", ErrNoRival, err)
	}
	for line := range strings.Lines(string(out)) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), `"Dir": "`); ok {
			return filepath.Join(strings.TrimSuffix(dir, `",`), "internal", "sqltemplates"), nil
		}
	}
	return "", ErrNoRival
}

// Rival makes the contrib exporter's tables from its own files, with its bloom filters or with its
// indexes of words (which it makes from ClickHouse 26.2 on), and the copies of our rows that fill them.
func Rival(source, database string, words bool) (Contender, error) {
	c := Contender{Name: "contrib, bloom filters", Database: database, Tables: []string{"otel_logs", "otel_traces"}, Finders: []string{"otel_traces_trace_id_ts"}}
	if words {
		c.Name = "contrib, text indexes"
	}
	read := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(source, name))
		return string(text), err
	}
	logs, err := read("logs_table.sql")
	if err != nil {
		return c, err
	}
	t, err := template.New("logs").Funcs(template.FuncMap{"ident": func(s string) string { return "`" + s + "`" }}).Parse(logs)
	if err != nil {
		return c, fmt.Errorf("logs_table.sql: %w", err)
	}
	var ddl bytes.Buffer
	if err := t.Execute(&ddl, map[string]any{
		"Database": database, "TableName": "otel_logs", "ClusterString": "", "Engine": "MergeTree()", "TTL": "", "HasFullTextSearch": words,
	}); err != nil {
		return c, fmt.Errorf("logs_table.sql: %w", err)
	}
	c.Create = append(c.Create, ddl.String())
	for _, f := range []struct {
		name string
		args []any
	}{
		{"traces_table.sql", []any{database, "otel_traces", "", "MergeTree()", ""}},
		{"traces_id_ts_lookup_table.sql", []any{database, "otel_traces", "", "MergeTree()", ""}},
		{"traces_id_ts_lookup_mv.sql", []any{database, "otel_traces", "", database, "otel_traces", database, "otel_traces"}},
	} {
		text, err := read(f.name)
		if err != nil {
			return c, err
		}
		made := fmt.Sprintf(text, f.args...)
		if strings.Contains(made, "%!") {
			return c, fmt.Errorf("%s takes other arguments than those of %s: %.200s", f.name, RivalVersion, made)
		}
		c.Create = append(c.Create, made)
	}
	c.Fill = []string{rivalLogs, rivalSpans}
	c.Questions = rivalQuestions
	return c, nil
}

// What the contrib exporter writes for the same records; our marks of who added what are left out, in its favour.
const (
	rivalLogs = `INSERT INTO otel_logs (Timestamp, TraceId, SpanId, TraceFlags, SeverityText, SeverityNumber, ServiceName, Body,
ResourceSchemaUrl, ResourceAttributes, ScopeSchemaUrl, ScopeName, ScopeVersion, ScopeAttributes, LogAttributes, EventName)
SELECT time, trace_id, span_id, 0, severity_text, severity, service, body, '', resource, '', scope, '', map(), mapConcat(attrs, stamped), name
FROM /* ours */.records WHERE signal = 'log' AND /* part */`
	rivalSpans = `INSERT INTO otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ServiceName, ResourceAttributes,
ScopeName, ScopeVersion, SpanAttributes, Duration, StatusCode, StatusMessage)
SELECT time, trace_id, span_id, parent_span_id, '', name, initcap(span_kind), service, resource, scope, '', attrs,
toUInt64(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(time)), initcap(toString(status)), status_message
FROM /* ours */.records WHERE signal = 'span' AND /* part */`
)
