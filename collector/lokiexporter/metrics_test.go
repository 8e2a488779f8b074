package lokiexporter

import (
	"flag"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/doctest"
)

var update = flag.Bool("update", false, "write the exporter's table of docs/metrics.md anew")

// What metadata.yaml describes is what the code makes, and what the document lists.
func TestMetricsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Telemetry struct {
			Metrics map[string]struct {
				Description string
				Attributes  []string
				Histogram   map[string]any
			}
		}
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for name, d := range m.Telemetry.Metrics {
		kind := "counter"
		if d.Histogram != nil {
			kind = "histogram"
		}
		if !strings.Contains(string(code), `"`+name+`"`) {
			t.Errorf("the code makes no %s", name)
		}
		rows = append(rows, doctest.MetricRow(name, kind, d.Attributes, d.Description))
	}
	if made := strings.Count(string(code), `"faultline_loki_exporter_`); made != len(rows) {
		t.Errorf("the code makes %d metrics, %d are described", made, len(rows))
	}
	doctest.MetricRows(t, "../../docs/metrics.md", "the Loki exporter", *update, rows)
}
