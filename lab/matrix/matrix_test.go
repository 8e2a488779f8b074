package matrix

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/score"
)

// What a silenced layer says does not get through; all else does, and what is not silenced is not even read.
func TestGate(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := read(r)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		switch r.URL.Path {
		case "/v1/logs":
			in := plogotlp.NewExportRequest()
			if err := in.UnmarshalProto(body); err != nil {
				t.Error(err)
			}
			for _, rl := range in.Logs().ResourceLogs().All() {
				got = append(got, "log "+rl.Resource().Attributes().AsRaw()["service.name"].(string))
			}
		case "/v1/traces":
			in := ptraceotlp.NewExportRequest()
			if err := in.UnmarshalProto(body); err != nil {
				t.Error(err)
			}
			for _, rs := range in.Traces().ResourceSpans().All() {
				got = append(got, "span "+rs.Resource().Attributes().AsRaw()["service.name"].(string))
			}
		}
	}))
	defer collector.Close()
	g, err := NewGate(collector.URL, p)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(g)
	defer front.Close()
	send := func(zipped bool) {
		ld, td := plog.NewLogs(), ptrace.NewTraces()
		for _, service := range []string{"envoy", "node-agent"} {
			rl := ld.ResourceLogs().AppendEmpty()
			rl.Resource().Attributes().PutStr("service.name", service)
			rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("a line")
			rs := td.ResourceSpans().AppendEmpty()
			rs.Resource().Attributes().PutStr("service.name", service)
			rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("a span")
		}
		logs, err := plogotlp.NewExportRequestFromLogs(ld).MarshalProto()
		if err != nil {
			t.Fatal(err)
		}
		spans, err := ptraceotlp.NewExportRequestFromTraces(td).MarshalProto()
		if err != nil {
			t.Fatal(err)
		}
		for path, body := range map[string][]byte{"/v1/logs": logs, "/v1/traces": spans} {
			var b bytes.Buffer
			if zipped {
				z := gzip.NewWriter(&b)
				_, _ = z.Write(body)
				_ = z.Close()
			} else {
				b.Write(body)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+path, &b)
			if err != nil {
				t.Fatal(err)
			}
			if zipped {
				r.Header.Set("Content-Encoding", "gzip")
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", path, answer.Status)
			}
		}
	}
	said := func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := got
		got = nil
		slices.Sort(out)
		return out
	}
	all, rest := []string{"log envoy", "log node-agent", "span envoy", "span node-agent"}, []string{"log node-agent", "span node-agent"}
	for _, c := range []struct {
		silent string
		zipped bool
		want   []string
	}{{"", true, all}, {"ingress", true, rest}, {"ingress", false, rest}, {"", false, all}} {
		g.Silence(c.silent)
		send(c.zipped)
		if got := said(); !slices.Equal(got, c.want) {
			t.Errorf("silent %q: %v, want %v", c.silent, got, c.want)
		}
	}
	if g.Kept() != 4 {
		t.Errorf("%d records kept back", g.Kept())
	}
}

// A process stands still while it is frozen; one that is killed is killed again whenever it comes back.
func TestInterrupt(t *testing.T) {
	begin := func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), "sleep", "60")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := begin()
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	if got := find("sleep", "60"); got == 0 {
		t.Error("it is not found")
	}
	end, err := interrupt(freeze, func() int { return c.Process.Pid })
	if err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Errorf("it is not stopped: %v, %v", status, err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if _, err := interrupt(kill, func() int { return 0 }); err == nil {
		t.Error("nobody was killed, and no word of it")
	}
}

// What stood for a moment is not held against anybody; what was said before neither.
func TestCount(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	ruling := func(after time.Duration, outcome string, blames ...string) score.Ruling {
		return score.Ruling{Outcome: outcome, Blames: blames, At: at.Add(after)}
	}
	for _, c := range []struct {
		name string
		said []score.Ruling
		want Result
	}{
		{"nothing", nil, Result{Lived: 1, Quiet: 1}},
		{"the owner", []score.Ruling{ruling(time.Second, "attributed", "api/stalled")}, Result{Lived: 1, Named: 1}},
		{"nobody", []score.Ruling{ruling(time.Second, "undetermined")}, Result{Lived: 1, Open: 1}},
		{"somebody else, for a moment", []score.Ruling{ruling(time.Second, "attributed", "db/slow"), ruling(2*time.Second, "attributed", "api/stalled")}, Result{Lived: 1, Named: 1}},
		{"somebody else", []score.Ruling{ruling(time.Second, "attributed", "db/slow"), ruling(9*time.Second, "attributed", "api/stalled")}, Result{Lived: 1, Wrong: []string{"a-1: db/slow"}}},
		{"somebody else, before, said again since", []score.Ruling{ruling(-time.Minute, "attributed", "db/slow"), ruling(time.Minute, "attributed", "db/slow")}, Result{Lived: 1, Quiet: 1}},
		{"somebody else, before", []score.Ruling{ruling(-time.Minute, "attributed", "db/slow"), ruling(time.Second, "none")}, Result{Lived: 1, Quiet: 1}},
	} {
		got := Result{Owners: []string{"api"}}
		got.count(lab.Lived{AllocationID: "a-1"}, c.said, at)
		got.Owners = nil
		if got.Lived != c.want.Lived || got.Named != c.want.Named || got.Open != c.want.Open || got.Quiet != c.want.Quiet || !slices.Equal(got.Wrong, c.want.Wrong) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Every process of the platform and of the product is frozen and killed, and every layer that speaks is silenced.
func TestCases(t *testing.T) {
	var names []string
	for _, c := range Cases() {
		names = append(names, c.Name)
		if c.begin == nil || strings.HasSuffix(c.Name, silence) != (c.Owners == nil && !strings.HasPrefix(c.Name, "collector") && !strings.HasPrefix(c.Name, "store") && !strings.HasPrefix(c.Name, "correlator")) {
			t.Errorf("%+v", c)
		}
	}
	for _, process := range []string{"ingress", "api", "auth", "provisioner", "relay", "agent", "collector", "store", "correlator"} {
		for _, how := range []string{freeze, kill} {
			if !slices.Contains(names, process+" "+how) {
				t.Errorf("no case for %s %s", process, how)
			}
		}
	}
}

// The short form of `faultline-lab matrix`: a frozen API and a killed authorization service, judged from files.
func TestNobodyElseIsBlamed(t *testing.T) {
	p, err := profile.Parse("lab", []byte(score.Profile))
	if err != nil {
		t.Fatal(err)
	}
	cell, err := score.Start(t.Context(), score.CellConfig{
		Name: "m-", Dir: t.TempDir(), Scale: 0.5, Stories: []string{"healthy", "slow", "cancel"}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cell.Close(); err != nil {
			t.Error(err)
		}
	}()
	time.Sleep(8 * time.Second) // the first allocations are under way
	run := Run{Rig: &Rig{Remote: cell.Remote}, Judge: score.NewFileJudge(p, cell.Files), Last: 12 * time.Second, Calm: 8 * time.Second}
	for _, c := range Cases() {
		if c.Name != "api freeze" && c.Name != "auth kill" {
			continue
		}
		r, err := run.Do(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK() || r.Named == 0 {
			t.Errorf("%s: %d lived, %d named, %d undetermined, %d quiet, wrong: %v", r.Case, r.Lived, r.Named, r.Open, r.Quiet, r.Wrong)
		}
	}
}
