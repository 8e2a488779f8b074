package lab_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/lab"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"stories: [healthy, cert_expired]\nevery: 500ms\nscale: 0.5\n", ""},
		{"ingress: 127.0.0.1:0\ndead_api: 127.0.0.1:0\n", ""},
		{"storys: [healthy]\n", `lab.yaml:1: unknown key "storys"`},
		{"stories: [healthier]\n", `stories: there is none called "healthier"`},
		{"data: ''\n", "data: must be set"},
		{"every: 0s\n", "every must be positive"},
		{"count: -1\n", "count not negative"},
		{"nodes: 0\n", "nodes: must be 1 to 100"},
		{"scale: 0\n", "scale: must be above 0"},
		{"provisioner: 127.0.0.1:8681\n", `provisioner: "127.0.0.1:8681" is no http URL`},
		{"node_api: http://127.0.0.1:8683\n", "node_api: "},
		{"ingress: 9443\n", `ingress: "9443" is no host:port`},
	} {
		_, err := config.Parse("lab.yaml", []byte(c.text), lab.DefaultConfig())
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// alone is a lab without a provisioner.
func alone(t *testing.T) lab.Config {
	t.Helper()
	c := lab.DefaultConfig()
	c.Data, c.Telemetry.Endpoint = t.TempDir(), ""
	c.Export = filepath.Join(c.Data, "export.jsonl")
	c.Provisioner, c.Ingress, c.API, c.Auth, c.DeadAPI = "http://127.0.0.1:1", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	return c
}

// The story of the missing back end would be untrue.
func TestNobodyMayListenWhereNobodyShould(t *testing.T) {
	t.Parallel()
	c := alone(t)
	somebody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = somebody.Close() }()
	c.DeadAPI = somebody.Addr().String()
	err = lab.Run(context.Background(), c, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "dead_api: something listens on "+c.DeadAPI) {
		t.Fatalf("run: %v", err)
	}
}

func TestLabSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	c := alone(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var said strings.Builder
	if err := lab.Run(ctx, c, slog.New(slog.NewTextHandler(&said, nil))); err != nil {
		t.Fatalf("told to stop while it waits: %v", err)
	}
	if got := strings.Count(said.String(), "waiting for the provisioner"); got != 1 || !strings.Contains(said.String(), c.Provisioner) {
		t.Fatalf("said %d times what it waits for: %s", got, said.String())
	}
	if text, err := os.ReadFile(filepath.Join(c.Data, lab.TruthFile)); err != nil || len(text) > 0 {
		t.Fatalf("truth of nothing: %q, %v", text, err)
	}
}
