package clickhouseexporter

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		{"faultline_clickhouse", ""},
		{"faultline_clickhouse/all", ""},
		{"faultline_clickhouse/no_dsn", "dsn: FAULTLINE_CLICKHOUSE_DSN is not set"},
		{"faultline_clickhouse/profile", `profile: there is no built-in profile "nowhere"`},
		{"faultline_clickhouse/bounds", "max_value_bytes: 10 is less than 1024"},
		{"faultline_clickhouse/impatient", "retry_on_failure: a queue on disk"},
		{"faultline_clickhouse/careless", "retry_on_failure: a queue on disk"},
	}
	for _, c := range cases {
		err := confmap.Validate(load(t, c.name))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	all := load(t, "faultline_clickhouse/all")
	if all.CreateSchema || all.Timeout.Timeout != 5*time.Second || all.LinkCache != 10 || all.Queue.Get().QueueSize != 7 {
		t.Errorf("%+v", all)
	}
}

func TestFactory(t *testing.T) {
	f := NewFactory()
	cfg := load(t, component.NewID(Type).String())
	logs, err := f.CreateLogs(t.Context(), exportertest.NewNopSettings(Type), cfg)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := f.CreateTraces(t.Context(), exportertest.NewNopSettings(Type), cfg)
	if err != nil {
		t.Fatal(err)
	}
	// What was never started can be shut down.
	for _, c := range []component.Component{logs, traces} {
		if err := c.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.CreateMetrics(t.Context(), exportertest.NewNopSettings(Type), cfg); err == nil {
		t.Error("metrics are not ours")
	}
}
