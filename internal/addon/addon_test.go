package addon_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/addon"
)

// program is a shell script that stands for an add-on.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "addon")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAsk(t *testing.T) {
	p := addon.Product{Data: "/d", OTLP: "http://127.0.0.1:4318", Provisioner: addon.Provisioner{Control: "127.0.0.1:1"}}
	want := addon.Plan{
		Processes: []addon.Process{{Name: "one", Command: []string{"one", "--fast"}, Env: []string{"A=b"}, Ready: "http://127.0.0.1:2/", Finite: true}},
		Addresses: map[string]string{"one.listen": "127.0.0.1:2"},
	}
	var told, answer bytes.Buffer
	if err := addon.Answer(strings.NewReader(`{"data":"/d"}`), &answer, func(p addon.Product) (addon.Plan, error) {
		told.WriteString(p.Data)
		return want, nil
	}); err != nil || told.String() != "/d" {
		t.Fatal(err, told.String())
	}
	heard := filepath.Join(t.TempDir(), "heard")
	got, err := p.Ask(t.Context(), program(t, "cat >"+heard+"\necho '"+answer.String()+"'"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(heard)
	if err != nil || !strings.Contains(string(text), `"control":"127.0.0.1:1"`) {
		t.Errorf("told %s, %v", text, err)
	}
}

func TestNoPlan(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"it says why":   {"echo 'up.yaml:3: unknown key' >&2; exit 1", "up.yaml:3: unknown key"},
		"it is silent":  {"exit 1", "ask addon what to run: exit status 1"},
		"it is no plan": {"echo hello", "read the plan of addon: "},
	} {
		_, err := addon.Product{}.Ask(t.Context(), program(t, c.script))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	broken := errors.New("no")
	if err := addon.Answer(strings.NewReader("{}"), &bytes.Buffer{}, func(addon.Product) (addon.Plan, error) { return addon.Plan{}, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := addon.Answer(strings.NewReader(""), &bytes.Buffer{}, nil); err == nil {
		t.Error("nothing was told, and it went on")
	}
}
