package grafana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// lokiVariable names a Loki (3.x) to start.
const lokiVariable = "FAULTLINE_LOKI_BINARY"

const lokiConfig = `auth_enabled: false
server: {http_listen_address: 127.0.0.1, http_listen_port: %[1]s, grpc_listen_address: 127.0.0.1, grpc_listen_port: 0, log_level: error}
common:
  path_prefix: %[2]s
  replication_factor: 1
  instance_addr: 127.0.0.1
  ring: {kvstore: {store: inmemory}, instance_addr: 127.0.0.1}
  storage: {filesystem: {chunks_directory: %[2]s/chunks, rules_directory: %[2]s/rules}}
ingester: {lifecycler: {min_ready_duration: 0s, final_sleep: 0s}}
frontend: {scheduler_dns_lookup_period: 200ms}
frontend_worker: {dns_lookup_duration: 200ms}
schema_config:
  configs: [{from: 2024-01-01, store: tsdb, object_store: filesystem, schema: v13, index: {prefix: index_, period: 24h}}]
limits_config: {allow_structured_metadata: true, reject_old_samples: false}
analytics: {reporting_enabled: false}
`

// startLoki gives the address of a Loki of the test's own, or skips.
func startLoki(t *testing.T) string {
	t.Helper()
	program := os.Getenv(lokiVariable)
	if program == "" {
		t.Skip("SKIPPED: " + lokiVariable + " names no Loki; the LogQL of the dashboards is NOT tested")
	}
	dir := t.TempDir()
	listen := free(t)
	file := filepath.Join(dir, "loki.yaml")
	must(t, os.WriteFile(file, fmt.Appendf(nil, lokiConfig, listen[strings.LastIndex(listen, ":")+1:], filepath.Join(dir, "data")), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "-config.file="+file)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, 60*time.Second, func() string { return ready(t, "http://"+listen+"/ready") })
	return "http://" + listen
}

// push sends records as collector/lokiexporter does: four labels, identifiers as structured metadata.
func push(t *testing.T, address string, records []*record.Record) {
	t.Helper()
	type stream struct {
		Stream map[string]string `json:"stream"`
		Values [][]any           `json:"values"`
	}
	streams := map[string]*stream{}
	for _, r := range records {
		severity := map[bool]string{true: "error", false: "info"}[r.Severity >= 17]
		s := streams[r.Service+severity]
		if s == nil {
			s = &stream{Stream: map[string]string{"service_name": r.Service, "severity": severity, "environment": "test", "cluster": "c-1"}}
			streams[r.Service+severity] = s
		}
		metadata := map[string]string{}
		for _, key := range []string{semconv.AllocationID, semconv.NodeID, semconv.NodeInstanceID, semconv.CorrelationID, semconv.WorkflowID} {
			if id, ok := r.Attrs.Get(key); ok {
				metadata[key] = id
			}
		}
		line := r.Body
		if line == "" {
			line = r.Name
		}
		s.Values = append(s.Values, []any{strconv.FormatInt(r.Time, 10), line, metadata})
	}
	var body struct {
		Streams []*stream `json:"streams"`
	}
	for _, s := range streams {
		slices.SortFunc(s.Values, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) }) // all have nineteen digits
		body.Streams = append(body.Streams, s)
	}
	text, err := json.Marshal(body)
	must(t, err)
	answer, err := http.Post(address+"/loki/api/v1/push", "application/json", bytes.NewReader(text))
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusNoContent {
		said, _ := io.ReadAll(answer.Body)
		t.Fatalf("push: %s %s", answer.Status, said)
	}
}

// logQL wants lines, or series, of every query of Loki, and values of every variable.
func logQL(t *testing.T, records []*record.Record) {
	address := startLoki(t)
	push(t, address, records)
	now := time.Now()
	w := window{now.Add(-6 * time.Hour), now, time.Minute}
	v := chosen()
	v["allocation_id"] = []string{"a-run-1"}
	ask := func(path string, form url.Values, into any) {
		t.Helper()
		answer, err := http.Get(address + path + "?" + form.Encode())
		must(t, err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		must(t, err)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s %v: %s", path, form, text)
		}
		must(t, json.Unmarshal(text, into))
	}
	between := url.Values{"start": {strconv.FormatInt(w.from.UnixNano(), 10)}, "end": {strconv.FormatInt(now.UnixNano(), 10)}}
	list := queries(t, lokiType)
	for _, q := range list {
		form := url.Values{"query": {w.expr(t, v.variables(t, q.Expr))}, "limit": {"1000"}, "step": {"60"}}
		for k, s := range between {
			form[k] = s
		}
		var found struct {
			Data struct {
				Result []struct{ Values []json.RawMessage }
			}
		}
		eventually(t, 10*time.Second, func() string {
			ask("/loki/api/v1/query_range", form, &found)
			if len(found.Data.Result) == 0 || len(found.Data.Result[0].Values) == 0 {
				return fmt.Sprintf("%s: %s: no lines: %s", q.dashboard, q.panel, form.Get("query"))
			}
			return ""
		})
	}
	for name, d := range all(t) {
		for _, asks := range d.Templating.List {
			if asks.Datasource == nil || asks.Datasource.Type != lokiType {
				continue
			}
			var query struct{ Label string }
			must(t, json.Unmarshal(asks.Query, &query))
			var found struct{ Data []string }
			ask("/loki/api/v1/label/"+query.Label+"/values", between, &found)
			if len(found.Data) == 0 {
				t.Errorf("%s: the variable %s has no values", name, asks.Name)
			}
		}
	}
	t.Logf("%d queries", len(list))
}
