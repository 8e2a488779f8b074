package supervise_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/supervise"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output is a buffer that several keepers may write to.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func script(t *testing.T, name, text string) supervise.Part {
	return supervise.Part{
		Name: name, Command: []string{"/bin/sh", "-c", text}, Log: filepath.Join(t.TempDir(), name+".log"),
		Patience: 5 * time.Second, Grace: 2 * time.Second,
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func TestPartsStopInReverseOrder(t *testing.T) {
	order := filepath.Join(t.TempDir(), "order")
	part := func(name string) supervise.Part {
		return script(t, name, `trap "echo `+name+` >> `+order+`; exit 0" TERM; while :; do sleep 0.05; done`)
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := supervise.Run(ctx, []supervise.Part{part("store"), part("collector")}, &output{}, func() {
		time.AfterFunc(200*time.Millisecond, stop)
	}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(order); string(got) != "collector\nstore\n" {
		t.Fatalf("%q", got)
	}
}

func TestAPartThatDiesIsStartedAgain(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	out := &output{}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- supervise.Run(ctx, []supervise.Part{script(t, "store", "echo $$ >> "+pids+"; exec sleep 60")}, out, func() {})
	}()
	started := func() []string {
		text, _ := os.ReadFile(pids)
		return strings.Fields(string(text))
	}
	eventually(t, "never started", func() bool { return len(started()) == 1 })
	pid, _ := strconv.Atoi(started()[0])
	time.Sleep(50 * time.Millisecond) // past its readiness
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "not started again", func() bool { return len(started()) == 2 })
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "store ended (signal: killed) and is started again") {
		t.Fatal(out.String())
	}
}

func TestAPartThatCannotStartSaysWhyAndStopsTheRest(t *testing.T) {
	stopped := filepath.Join(t.TempDir(), "stopped")
	first := script(t, "store", `trap "touch `+stopped+`; exit 0" TERM; while :; do sleep 0.05; done`)
	second := script(t, "collector", "sleep 0.2; echo port 4317 is taken; exit 1")
	second.Ready = "http://127.0.0.1:1/"
	err := supervise.Run(context.Background(), []supervise.Part{first, second}, &output{}, func() { t.Error("not ready") })
	if err == nil || !strings.Contains(err.Error(), "collector ended before it was ready (exit status 1)") || !strings.Contains(err.Error(), "port 4317 is taken") {
		t.Fatal(err)
	}
	if _, err := os.Stat(stopped); err != nil {
		t.Fatal("the first part was left running")
	}
}

func TestReadinessIsWaitedFor(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	p := script(t, "api", "exec sleep 60")
	p.Ready = s.URL
	ctx, stop := context.WithCancel(context.Background())
	if err := supervise.Run(ctx, []supervise.Part{p}, &output{}, stop); err != nil || asked < 3 {
		t.Fatal(asked, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestAStubbornPartIsEnded(t *testing.T) {
	p := script(t, "stubborn", `trap "" TERM; while :; do sleep 0.05; done`)
	p.Grace = 300 * time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	begun := time.Now()
	if err := supervise.Run(ctx, []supervise.Part{p}, &output{}, func() { time.AfterFunc(100*time.Millisecond, stop) }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Fatal("took ", took)
	}
}
