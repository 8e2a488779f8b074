package lokireceiver

import (
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func TestConfig(t *testing.T) {
	if err := componenttest.CheckConfigStruct(createDefaultConfig()); err != nil {
		t.Fatal(err)
	}
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"faultline_loki": "", "faultline_loki/all": "",
		"faultline_loki/nowhere": "endpoint: it is needed", "faultline_loki/negative": "max_request_body_size: it is negative"} {
		cfg := createDefaultConfig()
		sub, err := conf.Sub(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.Unmarshal(cfg); err != nil {
			t.Fatal(err)
		}
		err = confmap.Validate(cfg)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	r, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(Type), createDefaultConfig(), consumertest.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Shutdown(t.Context()); err != nil { // what was never started can be shut down
		t.Error(err)
	}
}
