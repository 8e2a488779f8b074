package prometheus

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestRoutesThatLeadNowhere(t *testing.T) {
	text, err := RoutesThatLeadNowhere()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Route     struct{ Routes []any }
		Receivers []map[string]any
		Inhibit   []any `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Route.Routes) == 0 || len(file.Inhibit) == 0 || len(file.Receivers) == 0 {
		t.Errorf("something is lost: %s", text)
	}
	for _, one := range file.Receivers {
		if len(one) != 1 || one["name"] == "" {
			t.Errorf("%v calls somebody", one)
		}
	}
	amtool := tool(t, "amtool")
	path := filepath.Join(t.TempDir(), "alertmanager.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), amtool, "check-config", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
