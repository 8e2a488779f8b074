package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/config"
)

type sample struct {
	Name string `yaml:"name"`
	Port int    `yaml:"port"`
}

func (s sample) Validate() error {
	if s.Port < 0 {
		return errors.New("port: must not be negative")
	}
	return nil
}

func TestParse(t *testing.T) {
	t.Setenv("SAMPLE_NAME", "from-env")
	cases := []struct{ name, text, wantErr string }{
		{"defaults", "", ""},
		{"value", "name: x\n", ""},
		{"environment", "name: ${env:SAMPLE_NAME}\n", ""},
		{"environment default", "name: ${env:SAMPLE_ABSENT:-d}\n", ""},
		{"environment missing", "port: 1\nname: ${env:SAMPLE_ABSENT}\n", "f.yaml: line 2: environment variable SAMPLE_ABSENT is not set"},
		{"commented", "# ${env:SAMPLE_ABSENT}\n", ""},
		{"unknown key", "name: x\nports: y\n", `f.yaml:2: unknown key "ports"`},
		{"wrong type", "port: many\n", "f.yaml:1: "},
		{"not YAML", "a: [\n", "f.yaml:"},
		{"two documents", "name: x\n---\nname: y\n", "f.yaml: more than one YAML document"},
		{"invalid", "port: -1\n", "f.yaml: port: must not be negative"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := config.Parse("f.yaml", []byte(c.text), sample{Name: "default", Port: 7})
			switch {
			case c.wantErr == "" && err != nil:
				t.Fatal(err)
			case c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)):
				t.Fatalf("error %v, want %q", err, c.wantErr)
			case err == nil && got.Port != 7:
				t.Fatalf("default lost: %+v", got)
			}
		})
	}
}

func TestLoadNamesTheMissingFile(t *testing.T) {
	if _, err := config.Load("no-such-file.yaml", sample{}); err == nil || !strings.Contains(err.Error(), "no-such-file.yaml") {
		t.Fatal(err)
	}
}
