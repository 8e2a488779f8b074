package identityprocessor

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

func TestConfig(t *testing.T) {
	if err := componenttest.CheckConfigStruct(createDefaultConfig()); err != nil {
		t.Fatal(err)
	}
	all, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, want string }{
		{"identity", ""},
		{"identity/all", ""},
		{"identity/bounds", "max_subjects: 0 is less than 1"},
		{"identity/shared", ""},
		{"identity/nowhere", "links: dsn: FAULTLINE_CLICKHOUSE_DSN is not set"},
		{"identity/links", "max_backoff: 1s is less than interval"},
		{"identity/links", "overlap: 1ms is less than 1s"},
		{"identity/links", "warm_start::max_age: 10000h0m0s is more than the 720h0m0s"},
		{"identity/links", "warm_start::max_rows: -1 is negative"},
		{"identity/profile", `there is no built-in profile "nowhere"`},
	}
	for _, c := range cases {
		cfg := createDefaultConfig().(*Config)
		sub, err := all.Sub(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.Unmarshal(cfg); err != nil {
			t.Fatal(err)
		}
		err = confmap.Validate(cfg)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if c.name == "identity/all" && (cfg.Tolerance != 2*time.Second || cfg.Links.Get().WarmStart.MaxRows != 1000) {
			t.Errorf("%+v", cfg)
		}
		if want := c.name != "identity" && c.name != "identity/profile" && c.name != "identity/bounds"; cfg.Links.HasValue() != want {
			t.Errorf("%s: links are shared: %v", c.name, !want)
		}
	}
}
