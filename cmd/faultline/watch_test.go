package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is what was written so far, read while more is written.
type heard struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.text.String()
}

// await waits until a text was heard.
func (h *heard) await(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(h.String(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q was never said:\n%q", want, h.String())
		}
	}
}

// Into a pipe: what came, what changed, what went, and when nobody answers; nothing where only time passed.
func TestWatchTellsChanges(t *testing.T) {
	alone(t)
	list := func(rows ...string) string { return `{"allocations":[` + strings.Join(rows, ",") + `]}` }
	row := func(id, state string) string {
		return `{"allocation_id":"` + id + `","state":"` + state + `","since":"2026-03-02T09:55:00Z","last_seen":"2026-03-02T09:00:00Z","layer":"cert"}`
	}
	f := newFake(t, map[string]string{"/api/v1/allocations": list(row("a-1", "active"), row("a-2", "failed"))})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out heard
	cmd := command()
	cmd.SetArgs([]string{"watch", "--every", "200ms", "--server", f.url})
	cmd.SetOut(&out)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	out.await(t, "+ a-1  active  cert  -\n")
	out.await(t, "+ a-2  failed  cert  -\n")
	f.set("/api/v1/allocations", list(row("a-1", "releasing"), row("a-3", `\u001b[2J`)))
	out.await(t, "~ a-1  state active → releasing\n")
	out.await(t, `+ a-3  \x1b[2J  cert`)
	out.await(t, "- a-2\n")
	f.set("/api/v1/allocations", "nonsense")
	out.await(t, " ! read the answer of")
	f.set("/api/v1/allocations", list(row("a-1", "released"), row("a-3", "x")))
	out.await(t, "! the correlator answers again\n")
	out.await(t, "~ a-1  state releasing → released\n")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 9 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

func TestWatchOfAVerdict(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{"/api/v1/allocations/a-7": givenText(t, "allocation")})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out heard
	cmd := command()
	cmd.SetArgs([]string{"watch", "verdict", "a-7", "--every", "200ms", "--server", f.url})
	cmd.SetOut(&out)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	out.await(t, "+ a-7  provisioning  attributed  cert  cert.expired  high  -\n")
	f.set("/api/v1/allocations/a-7", strings.Replace(givenText(t, "allocation"), `"cleared_at":null`, `"cleared_at":"2026-03-02T11:00:00Z"`, 1))
	out.await(t, "~ a-7  cleared - → 2026-03-02T11:00:00Z\n")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What makes no sense is refused at once; whoever is away from the start is waited for.
func TestWatchRefuses(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{"/api/v1/resolve": `{"id":"x","allocations":[]}`})
	for want, args := range map[string][]string{
		"is not for watching":   {"watch", "list", "--json"},
		"is less than":          {"watch", "--every", "1ms"},
		"nothing is known of x": {"watch", "verdict", "x"},
		"needs one ID":          {"watch", "verdict"},
	} {
		if _, _, err := say(t, append(args, "--server", f.url)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var out heard
	cmd := command()
	cmd.SetArgs([]string{"watch", "stuck", "--every", "200ms", "--server", "http://127.0.0.1:1"})
	cmd.SetOut(&out)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	out.await(t, "! ask the correlator at http://127.0.0.1:1")
	time.Sleep(500 * time.Millisecond)
	stop()
	if err := <-ended; err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v\n%s", err, out.String())
	}
}
