package collector

import (
	"strings"
	"testing"

	"go.opentelemetry.io/collector/otelcol"
)

// Every configuration that is shipped starts nothing but is accepted as a whole.
func TestShippedConfigurations(t *testing.T) {
	t.Setenv("FAULTLINE_CLICKHOUSE_DSN", "http://127.0.0.1:8123/faultline")
	t.Setenv("FAULTLINE_DATA", t.TempDir())
	t.Setenv("FAULTLINE_GATEWAY", "http://127.0.0.1:4318")
	t.Setenv("FAULTLINE_NODE_ID", "n-1")
	t.Setenv("FAULTLINE_NODE_INSTANCE_ID", "i-1")
	alone := map[string][]string{"record": {"embedded:lab", "embedded:record"}} // it lies over another
	for _, name := range ConfigNames() {
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
	if err := c.DryRun(t.Context()); err == nil || !strings.Contains(err.Error(), "there are: agent, lab, record") {
		t.Fatal(err)
	}
}
