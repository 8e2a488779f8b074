package collector

import (
	"strings"
	"testing"

	"go.opentelemetry.io/collector/otelcol"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/collector/queuestorage"
)

// Every configuration that is shipped starts nothing but is accepted as a whole.
func TestShippedConfigurations(t *testing.T) {
	t.Setenv("FAULTLINE_CLICKHOUSE_DSN", "http://127.0.0.1:8123/faultline")
	t.Setenv("FAULTLINE_DATA", t.TempDir())
	t.Setenv("FAULTLINE_GATEWAY", "http://127.0.0.1:4318")
	t.Setenv("FAULTLINE_NODES", t.TempDir())
	t.Setenv("FAULTLINE_LOKI", "http://127.0.0.1:3100")
	t.Setenv("FAULTLINE_NODE_ID", "n-1")
	t.Setenv("FAULTLINE_NODE_INSTANCE_ID", "i-1")
	alone := map[string][]string{"record": {"embedded:lab", "embedded:record"}, "nodes": {"embedded:agent", "embedded:nodes"}, "loki": {"embedded:lab", "embedded:loki"}} // they lie over another
	for _, name := range configNames() {
		t.Run(name, func(t *testing.T) {
			uris := alone[name]
			if uris == nil {
				uris = []string{"embedded:" + name}
			}
			c, err := otelcol.NewCollector(Settings("test", uris...))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.DryRun(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What keeps acknowledged records through an outage stands in every configuration: a queue on a disk that is synced, and
// retries without an end. Retries that end are how the first hours of a long outage go missing.
func TestShippedQueuesLoseNothing(t *testing.T) {
	queues := 0
	for _, name := range configNames() {
		text, err := configs.ReadFile("config/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Exporters  map[string]map[string]any
			Extensions map[string]map[string]any
		}
		if err := yaml.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		for exporter, settings := range c.Exporters {
			queue, ok := settings["sending_queue"].(map[string]any)
			if !ok {
				continue
			}
			queues++
			storage, _ := queue["storage"].(string)
			if kind, _, _ := strings.Cut(storage, "/"); kind != queuestorage.Type.String() || c.Extensions[storage]["fsync"] != nil {
				t.Errorf("%s: the queue of %s lies in %q", name, exporter, storage)
			}
			retry, _ := settings["retry_on_failure"].(map[string]any)
			if ends := retry["max_elapsed_time"]; exporter == clickhouseexporter.Type.String() && ends != nil || exporter != clickhouseexporter.Type.String() && ends != "0s" || retry["enabled"] != nil {
				t.Errorf("%s: retries of %s end: %v", name, exporter, retry)
			}
		}
	}
	if queues != 3 {
		t.Errorf("%d queues", queues)
	}
}

func TestMissingStoreIsNamed(t *testing.T) {
	t.Setenv("FAULTLINE_CLICKHOUSE_DSN", "")
	c, err := otelcol.NewCollector(Settings("test"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DryRun(t.Context()); err == nil || !strings.Contains(err.Error(), "FAULTLINE_CLICKHOUSE_DSN is not set") {
		t.Fatal(err)
	}
}

func TestUnknownEmbeddedConfiguration(t *testing.T) {
	c, err := otelcol.NewCollector(Settings("test", "embedded:nowhere"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.DryRun(t.Context()); err == nil || !strings.Contains(err.Error(), "there are: agent, lab, loki, nodes, record") {
		t.Fatal(err)
	}
}
