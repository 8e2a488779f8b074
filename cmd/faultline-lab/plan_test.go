package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/addon"
	"github.com/faultline-io/faultline/lab"
)

// planOf asks for a plan with a configuration of `faultline up`, in a folder where the provisioner lies beside the lab.
func planOf(t *testing.T, text string) (addon.Product, addon.Plan, error) {
	t.Helper()
	dir := t.TempDir()
	p := addon.Product{
		Config: filepath.Join(dir, "up.yaml"), Data: dir, OTLP: "http://127.0.0.1:1", Correlator: "http://127.0.0.1:2", Token: "/d/access/token",
		Provisioner: addon.Provisioner{Control: "127.0.0.1:3", Node: "127.0.0.1:4", Ops: "127.0.0.1:5"},
	}
	if err := os.WriteFile(p.Config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	answer, err := plan(p, filepath.Join(dir, "bin"))
	return p, answer, err
}

func TestPlan(t *testing.T) {
	p, got, err := planOf(t, "data_dir: elsewhere\nstore: 127.0.0.1:6\nlab:\n  count: 3\n  log_files: true\n  export: run.jsonl\n  api: 127.0.0.1:7\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Processes) != 2 || got.Processes[0].Name != "provisioner" || got.Processes[0].Ready != "http://127.0.0.1:5/readyz" ||
		got.Processes[1].Name != "lab" || !got.Processes[1].Finite {
		t.Errorf("processes %+v", got.Processes)
	}
	if got.NodeLogs != filepath.Join(p.Data, "lab", "nodes") || got.Addresses["lab.api"] != "127.0.0.1:7" || got.Addresses["provisioner.node"] != "127.0.0.1:4" {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string][]string{
		"lab.yaml":         {"endpoint: http://127.0.0.1:1", "provisioner: http://127.0.0.1:3", "node_api: 127.0.0.1:4", "count: 3"},
		"provisioner.yaml": {"endpoint: http://127.0.0.1:1", "control: 127.0.0.1:3", "verdicts: http://127.0.0.1:2", "verdicts_token_file: /d/access/token", "file: run.jsonl.provisioner"},
	} {
		text, err := os.ReadFile(filepath.Join(p.Data, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(string(text), line+"\n") {
				t.Errorf("%s has no %q:\n%s", name, line, text)
			}
		}
	}
}

func TestNoPlan(t *testing.T) {
	for text, want := range map[string]string{
		"run_lab: true\nlab:\n  evry: 1s\n":                `up.yaml:3: unknown key "evry"`,
		"lab: {nodes: 0}\n":                                "up.yaml: lab: nodes: must be 1 to 100",
		"lab: {stories: [aap_cancel], providers: false}\n": `lab: stories: "aap_cancel" needs providers: true`,
	} {
		if _, _, err := planOf(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Without a configuration everything is at its default.
func TestDefaultPlan(t *testing.T) {
	got, err := plan(addon.Product{Data: t.TempDir(), Provisioner: addon.Provisioner{Control: "c:1", Node: "n:1", Ops: "o:1"}}, "bin")
	if err != nil || got.NodeLogs != "" || got.Processes[1].Finite || got.Addresses["lab.ingress"] != lab.DefaultConfig().Ingress {
		t.Errorf("%+v, %v", got, err)
	}
}
