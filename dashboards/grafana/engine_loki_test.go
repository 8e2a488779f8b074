package grafana

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/faultline-io/faultline/collector/lokiexporter"
	"github.com/faultline-io/faultline/internal/lokitest"
	"github.com/faultline-io/faultline/processors/identityprocessor"
)

// send has Loki hold what the product writes of records: stamped by the identity processor, sent by the exporter.
func send(t *testing.T, address string, logs plog.Logs) {
	t.Helper()
	for _, rl := range logs.ResourceLogs().All() {
		rl.Resource().Attributes().PutStr("deployment.environment.name", "test")
		rl.Resource().Attributes().PutStr("k8s.cluster.name", "c-1")
	}
	exporters, processors := lokiexporter.NewFactory(), identityprocessor.NewFactory()
	cfg := exporters.CreateDefaultConfig().(*lokiexporter.Config)
	cfg.Client.Endpoint, cfg.Queue = address, configoptional.None[exporterhelper.QueueBatchConfig]()
	exporter, err := exporters.CreateLogs(t.Context(), exportertest.NewNopSettings(exporters.Type()), cfg)
	must(t, err)
	processor, err := processors.CreateLogs(t.Context(), processortest.NewNopSettings(processors.Type()), processors.CreateDefaultConfig(), exporter)
	must(t, err)
	must(t, exporter.Start(t.Context(), componenttest.NewNopHost()))
	must(t, processor.Start(t.Context(), componenttest.NewNopHost()))
	must(t, processor.ConsumeLogs(t.Context(), logs))
	must(t, processor.Shutdown(t.Context()))
	must(t, exporter.Shutdown(t.Context()))
}

// logQL wants lines, or series, of every query of Loki, and values of every variable.
func logQL(t *testing.T, logs plog.Logs) {
	address := lokitest.Start(t, lokitest.Settings{}).URL
	send(t, address, logs)
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
