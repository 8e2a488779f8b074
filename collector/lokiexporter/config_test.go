package lokiexporter

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/exporter/exportertest"
)

func load(t *testing.T, name string) *Config {
	t.Helper()
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := createDefaultConfig()
	sub, err := conf.Sub(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.Unmarshal(cfg); err != nil {
		t.Fatal(err)
	}
	return cfg.(*Config)
}

func TestConfig(t *testing.T) {
	if err := componenttest.CheckConfigStruct(createDefaultConfig()); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, want string }{
		{"faultline_loki", ""},
		{"faultline_loki/all", ""},
		{"faultline_loki/no_endpoint", `endpoint: "" is not an address`},
		{"faultline_loki/address", `endpoint: "loki:3100" is not an address`},
		{"faultline_loki/compressed", `compression: "gzip"`},
		{"faultline_loki/bounds", "max_line_bytes: 10 is less than 1024"},
		{"faultline_loki/name", `labels: "service.name" is not a label's name`},
		{"faultline_loki/twice", "labels: severity stands there twice"},
		{"faultline_loki/nothing", "labels: region: from names no resource attribute"},
		{"faultline_loki/many", "labels: node: node.id has many values"},
		{"faultline_loki/careless", "retry_on_failure: a queue on disk"},
		{"faultline_loki/impatient", "retry_on_failure: a queue on disk"},
	}
	for _, c := range cases {
		err := confmap.Validate(load(t, c.name))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	all := load(t, "faultline_loki/all")
	if all.TenantID != "faultline" || all.Client.Timeout != 5*time.Second || all.StreamsPerPush != 4 || all.Queue.Get().QueueSize != 7 || !all.Client.TLS.InsecureSkipVerify {
		t.Errorf("%+v", all)
	}
	if diff := cmp.Diff([]Label{{"service_name", []string{"service.name"}}, {"region", []string{"cloud.region"}}}, all.Labels); diff != "" {
		t.Errorf("labels lie over the default ones: -want +got:\n%s", diff)
	}
	for endpoint, want := range map[string]string{
		"http://loki:3100": "http://loki:3100/loki/api/v1/push", "http://loki:3100/": "http://loki:3100/loki/api/v1/push",
		"https://gate/logs": "https://gate/logs/loki/api/v1/push", "https://gate/api/v1/push": "https://gate/api/v1/push",
	} {
		if got := pushURL(endpoint); got != want {
			t.Errorf("%s becomes %s, want %s", endpoint, got, want)
		}
	}
}

func TestFactory(t *testing.T) {
	f := NewFactory()
	cfg := load(t, component.NewID(Type).String())
	logs, err := f.CreateLogs(t.Context(), exportertest.NewNopSettings(Type), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := logs.Shutdown(t.Context()); err != nil { // what was never started can be shut down
		t.Error(err)
	}
	if _, err := f.CreateTraces(t.Context(), exportertest.NewNopSettings(Type), cfg); err == nil {
		t.Error("traces are not ours")
	}
}
