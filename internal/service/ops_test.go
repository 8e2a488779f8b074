package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOpsPages(t *testing.T) {
	ops := service.NewOps()
	down := errors.New("no route")
	var failing error
	ops.Ready("store", func(context.Context) error { return failing })
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		ops.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	if code, _ := get("/readyz"); code != http.StatusOK {
		t.Fatal(code)
	}
	failing = down
	if code, body := get("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "store: no route") {
		t.Fatal(code, body)
	}
	if code, _ := get("/healthz"); code != http.StatusOK {
		t.Fatal("a process that is not ready is still alive")
	}
	if _, body := get("/metrics"); !strings.Contains(body, "go_goroutines") {
		t.Fatal("no runtime metrics")
	}
}

func TestServeFinishesWhatIsInFlight(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	entered, served := make(chan struct{}), make(chan error, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		time.Sleep(50 * time.Millisecond)
		_, _ = io.WriteString(w, "whole")
	})
	go func() { served <- service.ServeOn(ctx, l, h, time.Second) }()
	go func() { <-entered; stop() }()
	r, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if string(body) != "whole" {
		t.Fatalf("cut off: %q", body)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
}

func TestServeNamesATakenAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	err = service.Serve(context.Background(), l.Addr().String(), http.NotFoundHandler(), time.Second)
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Fatal(err)
	}
}

func TestLogConfig(t *testing.T) {
	if err := (service.LogConfig{Level: "loud", Format: "text"}).Validate(); err == nil {
		t.Fatal("a level that does not exist was accepted")
	}
	var out bytes.Buffer
	service.LogConfig{Level: "warn", Format: "json"}.NewLogger(&out, "store").Warn("disk is full")
	if !strings.Contains(out.String(), `"component":"store"`) {
		t.Fatal(out.String())
	}
}
