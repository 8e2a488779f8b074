package collector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// builder is the OpenTelemetry Collector Builder whose manifests are tested.
const builder = "go.opentelemetry.io/collector/cmd/builder@v0.161.0"

// fenced is the YAML block that follows a marker in a Markdown text.
func fenced(t *testing.T, text, marker string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "<!-- "+marker+" -->\n```yaml\n")
	block, _, ok2 := strings.Cut(rest, "\n```\n")
	if !ok || !ok2 {
		t.Fatalf("no block %s", marker)
	}
	return block + "\n"
}

// build runs the builder over a manifest, with its replacement pointed to this checkout, and gives the
// program. With what our own build has compiled already it takes some ten seconds, from nothing minutes.
func build(t *testing.T, manifest, replacement, program string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a distribution")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if !strings.Contains(manifest, replacement) || !strings.Contains(manifest, "output_path: ./build") {
		t.Fatalf("manifest replaces something else:\n%s", manifest)
	}
	manifest = strings.Replace(manifest, replacement, "=> "+root+"\n", 1)
	if err := os.WriteFile(filepath.Join(dir, "builder.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	cmd := exec.CommandContext(t.Context(), "go", "run", builder, "--config", "builder.yaml")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-4000):])
	}
	t.Logf("built in %s", time.Since(begun).Round(time.Second))
	return filepath.Join(dir, "build", program)
}

// The manifest of the identity processor's README, built as it stands there, gives a Collector that takes
// OTLP and passes it on stamped, with the configuration that stands beside it.
func TestAnyonesBuild(t *testing.T) {
	text, err := os.ReadFile("../processors/identityprocessor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	program := build(t, fenced(t, string(text), "builder.yaml"), "=> ../faultline\n", "otelcol")

	received := make(chan plogotlp.ExportRequest, 8)
	onward := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		request := plogotlp.NewExportRequest()
		if err := errors.Join(err, request.UnmarshalProto(body)); err != nil || r.URL.Path != "/v1/logs" {
			http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
			return
		}
		received <- request
	}))
	defer onward.Close()
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(fenced(t, string(text), "config.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	listen := ports(t, 1)[0]
	var said bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "--config", config,
		"--set", "exporters::otlp_http::compression=none", "--set", "service::telemetry::metrics::level=none")
	cmd.Env = append(os.Environ(), "OTLP_LISTEN="+listen, "OTLP_ONWARD="+onward.URL)
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _ = cmd.Wait() }()

	// The binding is on one record, what it resolves on another, which arrives first.
	ld := logs(1, "first", map[string]any{"request_id": "req-1"}).Logs()
	logs(1, "second", map[string]any{"request_id": "req-1", "allocation_id": "a-1"}).Logs().ResourceLogs().MoveAndAppendTo(ld.ResourceLogs())
	body, err := plogotlp.NewExportRequestFromLogs(ld).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		r, err := http.Post("http://"+listen+"/v1/logs", protobuf, bytes.NewReader(body))
		if err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				break
			}
			err = errors.New(r.Status)
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	select {
	case request := <-received:
		first := request.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		for name, want := range map[string]string{"allocation_id": "a-1", "identity_via": "request", "identity_stamped": "allocation_id"} {
			if v, ok := first.Attributes().Get(name); !ok || v.AsString() != want {
				t.Errorf("%s is %q, want %q", name, v.AsString(), want)
			}
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came out")
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
}

// builder.yaml gives our own distribution: the components that components.go lists.
func TestOurOwnManifest(t *testing.T) {
	text, err := os.ReadFile("builder.yaml")
	if err != nil {
		t.Fatal(err)
	}
	program := build(t, string(text), "=> ../\n", "faultline-collector")
	out, err := exec.CommandContext(t.Context(), program, "components").Output()
	if err != nil {
		t.Fatal(err)
	}
	all, err := Components()
	if err != nil {
		t.Fatal(err)
	}
	types := map[component.Type]bool{} // a factory may be there under an old name too
	for _, f := range all.Receivers {
		types[f.Type()] = true
	}
	for _, f := range all.Processors {
		types[f.Type()] = true
	}
	for _, f := range all.Exporters {
		types[f.Type()] = true
	}
	for _, f := range all.Extensions {
		types[f.Type()] = true
	}
	for name := range types {
		if !strings.Contains(string(out), "- name: "+name.String()+"\n") {
			t.Errorf("no %s", name)
		}
	}
	if len(types) < 15 {
		t.Errorf("only %d components", len(types))
	}
}
