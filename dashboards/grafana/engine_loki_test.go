package grafana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/lokitest"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

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
	address := lokitest.Start(t, lokitest.Settings{}).URL
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
