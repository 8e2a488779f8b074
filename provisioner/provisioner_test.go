package provisioner_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/provisioner"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConfiguration(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := config.Parse("p.yaml", []byte(text), provisioner.DefaultConfig())
		switch {
		case want == "" && err != nil:
			t.Fatal(err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Fatalf("%v, want %q", err, want)
		}
	}
	f("", "")
	f("workflow: {claim_timeout: 5s}", "")
	f("workflow:\n  claim_timout: 5s", `p.yaml:2: unknown key "claim_timout"`)
	f("telemetry: {endpoint: nowhere}", "telemetry.endpoint")
	f("telemetry: {queue: 1}", "telemetry.queue")
	f("fleet: {lease: 0s}", "fleet: lease")
	f("outbox: {attempts: 0}", "outbox:")
	f("log: {level: loud}", "log.level")
	f("control: 0.0.0.0:8681", "control: 0.0.0.0:8681 can be reached from other machines, and nobody asks callers who they are")
	f("control: :8681\naccess: {token_file: tokens.yaml}", "")
	f("access: {tokens: [{name: kim, role: boss}]}", "none of viewer, operator, admin")
	f("recovery: {verdicts: nowhere}", "recovery.verdicts")
	f("catalog: {pools: [\"\"]}", "catalog:")
	text, err := yaml.Marshal(provisioner.DefaultConfig()) // what one writes, one can read
	if err != nil {
		t.Fatal(err)
	}
	f(string(text), "")
}

func TestRunServesAndStops(t *testing.T) { storetest.Each(t, runServesAndStops) }

func runServesAndStops(t *testing.T, target string) {
	c := provisioner.DefaultConfig()
	var held []net.Listener
	for _, address := range []*string{&c.Control, &c.Node, &c.Ops} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		*address = l.Addr().String()
	}
	for _, l := range held {
		_ = l.Close()
	}
	c.Database, c.Telemetry.Endpoint = target, ""
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- provisioner.Run(ctx, c, slog.New(slog.DiscardHandler)) }()
	defer http.DefaultClient.CloseIdleConnections()
	get := func(url string) (int, string) {
		r, err := http.Get(url)
		if err != nil {
			return 0, ""
		}
		defer func() { _ = r.Body.Close() }()
		text, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(text)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if status, _ := get("http://" + c.Ops + "/readyz"); status == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("never ready")
		}
	}
	for _, call := range []string{"/v1/allocations", "/v1/allocations/a-1/release"} { // one that is requested cannot be released
		body := `{"allocation_id":"a-1","node_pool":"p","image":"i","requested_by":"alice"}`
		if strings.HasSuffix(call, "release") {
			body = `{"actor":"alice"}`
		}
		r, err := http.Post("http://"+c.Control+call, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
	}
	_, metrics := get("http://" + c.Ops + "/metrics")
	if want := "\nfaultline_provisioner_refused_moves_total{of=\"allocation\",reason=\"illegal_move\"} 1\n"; !strings.Contains(metrics, want) {
		t.Errorf("no %s", want)
	}
	for _, name := range []string{"telemetry_records_total", "telemetry_dropped_records_total", "telemetry_queue_records", "outbox_messages", "outbox_oldest_age_seconds"} {
		if !strings.Contains(metrics, "\nfaultline_provisioner_"+name+" ") {
			t.Errorf("no metric %s", name)
		}
	}
	if status, _ := get("http://" + c.Node + "/v1/allocations"); status != http.StatusNotFound {
		t.Errorf("the node API answers for the control API: %d", status)
	}
	// A second one on the same ports stops at once and says why.
	second := c
	second.Database = filepath.Join(t.TempDir(), "q.db")
	if err := provisioner.Run(context.Background(), second, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "listen on") {
		t.Error(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
