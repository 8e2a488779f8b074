package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/story"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"faultline":   func() { os.Exit(run()) },
		"tell":        tell,
		"provisioner": runProvisioner, "await": await, "strand": strand, "issue": issue,
	})
}

// tell writes a story as an OTLP/JSON file: tell STORY FILE.
func tell() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		var file []byte
		records, parseErr := story.Parse(string(text))
		if parseErr == nil {
			file, parseErr = otlpfile.Write(records)
		}
		if err = parseErr; err == nil {
			err = os.WriteFile(os.Args[2], file, 0o600)
		}
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "script"), Setup: addresses})
}
