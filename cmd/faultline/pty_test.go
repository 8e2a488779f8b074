package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/faultline-io/faultline/internal/table"
)

// onTerminal runs the program with a terminal of a width, and gives what the terminal is told.
func onTerminal(t *testing.T, width uint16, env []string, args ...string) (*exec.Cmd, *os.File, *heard) {
	t.Helper()
	return startOnTerminal(t, exec.Command("faultline", args...), width, env...)
}

func startOnTerminal(t *testing.T, cmd *exec.Cmd, width uint16, env ...string) (*exec.Cmd, *os.File, *heard) {
	t.Helper()
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color", "NO_COLOR="}, env...)...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 12, Cols: width})
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	var out heard
	read := make(chan struct{})
	go func() { _, _ = io.Copy(&out, tty); close(read) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-read // the terminal reads as ended when the program has
		_ = tty.Close()
	})
	return cmd, tty, &out
}

// ends waits for the program and for what it said last.
func ends(t *testing.T, cmd *exec.Cmd, want int) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		var status *exec.ExitError
		if errors.As(err, &status); err != nil && status == nil || cmd.ProcessState.ExitCode() != want {
			t.Errorf("ended with %v, want %d", err, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// A terminal gets colours and lines that fit it; nothing that a record says commands it.
func TestListOnATerminal(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{"/api/v1/allocations": givenText(t, "allocations")})
	cmd, _, out := onTerminal(t, 70, nil, "list", "--server", f.url)
	out.await(t, "undetermined")
	ends(t, cmd, 0)
	out.await(t, `\x1b[2J`)
	if s := out.String(); !strings.Contains(s, "\x1b[1ma-7\x1b[0m") || strings.Contains(s, "\x1b[2J") || strings.Contains(s, "\x1b]0;") {
		t.Errorf("%q", s)
	}
	cmd, _, out = onTerminal(t, 70, []string{"NO_COLOR=1"}, "list", "--server", f.url)
	out.await(t, "undetermined")
	ends(t, cmd, 0)
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimRight(line, "\r\n"); strings.Contains(line, "\x1b") || table.Width(line) > 70 {
			t.Errorf("%q", line)
		}
	}
}

// A watch redraws on a screen of its own, says when nobody answers, and leaves the terminal as it was when it ends.
func TestWatchOnATerminal(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{"/api/v1/allocations": givenText(t, "allocations")})
	cmd, tty, out := onTerminal(t, 80, nil, "watch", "list", "--every", "200ms", "--server", f.url)
	out.await(t, "\x1b[?1049h")
	out.await(t, "a-7")
	f.set("/api/v1/allocations", "nonsense")
	out.await(t, "no answer for 0s, below is the one of")
	f.set("/api/v1/allocations", strings.Replace(givenText(t, "allocations"), `"a-3"`, `"a-33"`, 1))
	out.await(t, "a-33")
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 5, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	out.await(t, "more lines")
	if strings.Contains(out.String(), "\x1b[?1049l") {
		t.Error("the screen was left too early")
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ends(t, cmd, 0)
	out.await(t, "\x1b[?7h\x1b[?25h\x1b[?1049l")
}

// Whoever waits for an answer sees that it is waited for, on the terminal alone.
func TestWaitingIsShown(t *testing.T) {
	alone(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(1300 * time.Millisecond)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"allocations":[]}`))
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "out")
	shell, _, told := startOnTerminal(t, exec.Command("sh", "-c", "faultline list --server "+s.URL+" > "+file), 80)
	told.await(t, "asking "+s.URL)
	told.await(t, "no allocations")
	ends(t, shell, 0)
	if text, err := os.ReadFile(file); err != nil || len(text) > 0 {
		t.Errorf("%q %v", text, err)
	}
	shell, _, told = startOnTerminal(t, exec.Command("sh", "-c", "(cat ../../examples/healthy.jsonl; sleep 1.3) | faultline analyze --json - > "+file), 80)
	told.await(t, "reading: ")
	ends(t, shell, 0)
	if text, err := os.ReadFile(file); err != nil || !json.Valid(text) {
		t.Errorf("%.100q %v", text, err)
	}
	if s := told.String(); !strings.HasSuffix(s, "\r\x1b[K") {
		t.Errorf("the line stays: %q", s)
	}
}
