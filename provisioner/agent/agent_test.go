package agent_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/agent"
	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// words are what an agent has said.
type words struct {
	*telemetry.Emitter
	mu    sync.Mutex
	lines []string
}

func (w *words) Log(_ context.Context, _ plog.SeverityNumber, body string, _ ...slog.Attr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, body)
}

func (w *words) have(parts ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.lines {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			return true
		}
	}
	return false
}

func (w *words) host() agent.Host {
	return agent.Host{NewEmitter: func(...slog.Attr) agent.Emitter { return w }}
}

func worker(t *testing.T) stepLog {
	return stepLog{dir: t.TempDir(), steps: 2, takes: time.Millisecond}
}

func TestALifeOfAnAllocation(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	p.start(p.config("n-1"), agent.Host{}, worker(t))
	p.create("a-1")
	p.until("active", func() bool { return p.state("a-1") == semconv.Active })
	if _, err := p.control.Release(context.Background(), "a-1", control.Asker{Actor: "alice", ActorType: "user"}); err != nil {
		t.Fatal(err)
	}
	p.until("released", func() bool { return p.state("a-1") == semconv.Released })
}

// A certificate of some seconds is renewed over mTLS again and again, for the same node instance.
func TestRenewal(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, 3*time.Second)
	var said words
	p.start(p.config("n-1"), said.host(), worker(t))
	serials := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		seen := map[string]bool{}
		for _, c := range p.clients {
			seen[c.SerialNumber.String()] = true
			if id, err := authority.ParseIdentity(c.URIs[0].String()); err != nil || id.InstanceID != p.instance("n-1") {
				t.Fatalf("%+v, %v", id, err)
			}
		}
		return len(seen)
	}
	p.until("three certificates", func() bool { return serials() >= 3 })
}

// Answers that are lost on their way, of enrolment, claim and result, cost nothing.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	var mu sync.Mutex
	lost := map[string]int{}
	node := p.front.Config.Handler
	p.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		kind := filepath.Base(r.URL.Path)
		mu.Lock()
		first := lost[kind] == 0 && (kind == "enroll" || kind == "result" || kind == "wait")
		mu.Unlock()
		if !first || r.Header.Get("X-Replayed") != "" {
			return false
		}
		answer := httptest.NewRecorder()
		r.Header.Set("X-Replayed", "yes")
		node.ServeHTTP(answer, r)
		if answer.Code == http.StatusNoContent && kind == "wait" {
			w.WriteHeader(answer.Code)
			return true
		}
		mu.Lock()
		lost[kind]++
		mu.Unlock()
		panic(http.ErrAbortHandler)
	})
	p.create("a-1")
	w := worker(t)
	p.start(p.config("n-1"), agent.Host{}, w)
	p.until("active", func() bool { return p.state("a-1") == semconv.Active })
	mu.Lock()
	defer mu.Unlock()
	if lost["enroll"] != 1 || lost["wait"] != 1 || lost["result"] != 1 {
		t.Fatalf("lost: %v", lost)
	}
	for step, n := range w.begun() {
		if n != 1 {
			t.Errorf("step %s was begun %d times", step, n)
		}
	}
}

// A certificate whose time is over cannot renew itself; with a new token the node enrols again.
func TestOverAndEnrolledAgain(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, 2*time.Second)
	c := p.config("n-1")
	var said words
	stop := p.start(c, said.host(), worker(t))
	p.until("enrolled", func() bool { return said.have("enrolled as") })
	first := p.instance("n-1")
	stop()
	time.Sleep(2500 * time.Millisecond) // the node was off for longer than its certificate lives
	c.Token = ""
	stop = p.start(c, said.host(), worker(t))
	p.until("it says why", func() bool { return said.have("claim task: ", "expired certificate") })
	stop()
	c.Token = p.token("n-1")
	p.start(c, said.host(), worker(t))
	p.until("another node instance", func() bool { return p.instance("n-1") != first })
}

func TestSuperseded(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	c := p.config("n-1")
	var said words
	p.start(c, said.host(), worker(t))
	p.until("enrolled", func() bool { return p.instance("n-1") != "" })
	first := p.instance("n-1")
	twin := c
	twin.Folder, twin.Token = filepath.Join(p.dir, "reimaged"), p.token("n-1")
	p.start(twin, agent.Host{}, worker(t))
	p.until("reimaged", func() bool { return p.instance("n-1") != first })
	p.until("the wiped one is told", func() bool { return said.have("409", "superseded_instance") })
}

func TestOneAgentAFolder(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	c := p.config("n-1")
	p.start(c, agent.Host{}, worker(t))
	p.until("enrolled", func() bool { return p.instance("n-1") != "" })
	second, err := agent.New(c, agent.Host{}, worker(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(context.Background()); !errors.Is(err, agent.ErrRunning) {
		t.Fatal(err)
	}
}

// A node whose disk is full cannot remember a claim: the task fails and says why.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	var full atomic.Bool
	var said words
	m := said.host()
	m.Write = func(path string, data []byte) error {
		if full.Load() {
			return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
		}
		return agent.Replace(path, data)
	}
	w := worker(t)
	p.start(p.config("n-1"), m, w)
	p.until("enrolled", func() bool { return said.have("enrolled as") })
	full.Store(true)
	p.create("a-1")
	p.until("failed", func() bool { return p.state("a-1") == semconv.Failed })
	if !said.have("no space left on device") || len(w.begun()) != 0 {
		t.Errorf("said %q, begun %v", said.lines, w.begun())
	}
}

func TestClocks(t *testing.T) {
	t.Parallel()
	apart := func(d time.Duration, want ...string) {
		t.Helper()
		p := newTestPlatform(t, time.Hour)
		var said words
		m := said.host()
		m.Now = func() time.Time { return time.Now().Add(d) }
		p.start(p.config("n-1"), m, worker(t))
		p.until(fmt.Sprintf("it says %q", want), func() bool { return said.have(want...) })
	}
	apart(-3*time.Hour, "is before", "by this machine's clock", "what the node API's says is not known")
	apart(30*time.Minute, "clock: this machine's clock is 30m0s ahead of the node API's")
	apart(-30*time.Minute, "clock: this machine's clock is 30m0s behind the node API's")
}

// An agent that does not get through says so in its own name, and not only in that of the task whose result it holds.
func TestHeartbeatsThatFail(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	p.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if filepath.Base(r.URL.Path) != "heartbeat" {
			return false
		}
		http.Error(w, "no route", http.StatusBadGateway)
		return true
	})
	var said words
	p.start(p.config("n-1"), said.host(), worker(t))
	p.until("it says so", func() bool { return said.have("heartbeat: ", "502") })
}

// What somebody on the way says is not the node API's word: a result is kept until it has arrived.
func TestResultsOutliveTheWay(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	var answers atomic.Int32
	p.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if filepath.Base(r.URL.Path) != "result" {
			return false
		}
		n := answers.Add(1)
		codes := []int{404, 403, 401, 502, 429}
		if int(n) > len(codes) {
			return false
		}
		http.Error(w, "no route", codes[n-1])
		return true
	})
	p.create("a-1")
	p.start(p.config("n-1"), agent.Host{}, worker(t))
	p.until("active", func() bool { return p.state("a-1") == semconv.Active })
}

// Bad answers are errors, not panics, and nothing is half-done.
func TestBadAnswers(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	bad := []string{"", "{", "null", "[]", `{"node_id":1}`, `{"certificate":"x","node_id":"n-1","node_instance_id":"ni"}`, strings.Repeat("x", 2<<20)}
	var n atomic.Int32
	p.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		i := int(n.Add(1))
		if filepath.Base(r.URL.Path) != "enroll" || i > len(bad) {
			return false
		}
		_, _ = w.Write([]byte(bad[i-1]))
		return true
	})
	p.start(p.config("n-1"), agent.Host{}, worker(t))
	p.until("enrolled all the same", func() bool { return p.instance("n-1") != "" })
}

// The ingress refuses a certificate of another authority, and the agent says what it was told.
func TestWrongAuthority(t *testing.T) {
	t.Parallel()
	p := newTestPlatform(t, time.Hour)
	other, err := authority.New("other", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := other.Pair(authority.Identity{NodeID: "n-1", InstanceID: "ni"}, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	var said words
	m := said.host()
	m.Certificate = func(own *tls.Certificate) *tls.Certificate {
		if own == nil {
			return nil
		}
		return &pair
	}
	p.start(p.config("n-1"), m, worker(t))
	p.until("it is told", func() bool { return said.have("claim task: ", "unknown certificate authority") })
}
