package embedded_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

const runEnv = "FAULTLINE_TEST_RUN"

// TestRunAsAProcess runs this test again in another process, which calls Run, and ends that with SIGTERM.
func TestRunAsAProcess(t *testing.T) {
	if at, ok := os.LookupEnv(runEnv); ok {
		address, dir, _ := strings.Cut(at, " ")
		cfg := embeddedtest.Config(dir)
		cfg.Listen = address
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := embedded.Run(ctx, cfg, slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
			t.Fatal(err)
		}
		return
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunAsAProcess$")
	cmd.Env = append(os.Environ(), runEnv+"="+address+" "+t.TempDir())
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatal("it is not ready")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &said)
	}
	for _, want := range []string{"store is ready", "store stops"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &said)
		}
	}
}
