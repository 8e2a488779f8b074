package notify

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/doctest"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// platform is a source that a test changes.
type platform struct {
	now time.Time
	all map[string]correlator.Assessment
	err error
}

func (p *platform) Assessments(context.Context, int64) (list []correlator.Assessment, examined int, err error) {
	for _, a := range p.all {
		a.Verdict.AsOf = correlator.Time(p.now.UnixNano())
		list = append(list, a)
	}
	return list, len(list), p.err
}

func newPlatform() *platform {
	return &platform{now: time.Now().Truncate(time.Second), all: map[string]correlator.Assessment{}}
}

// hit has the node's disk hit an allocation; cleared ends it.
func (p *platform) hit(allocation, confidence string, cleared bool) {
	state, at := "provisioning", correlator.Time(p.now.Add(-time.Minute).UnixNano())
	a := correlator.Assessment{ID: allocation, State: &state}
	one := correlator.FaultOccurrence{
		Layer: "node", Mechanism: "disk", Rule: "node.disk", Subject: correlator.Subject{Kind: correlator.SubjectNode, IDs: []string{"n-1"}},
		Confidence: confidence, Onset: at, Last: at, Summary: "a disk of the node reports errors", NextCheck: "smartctl -a", SafeAction: "drain the node",
	}
	if cleared {
		one.ClearedAt = &one.Last
	}
	a.Occurrences = []correlator.FaultOccurrence{one}
	fault := correlator.Fault{}
	fault.Layer, fault.Owner.Team = "node", "hardware"
	a.Verdict.Faults = []correlator.Fault{fault}
	p.all[allocation] = a
}

// inbox takes what is posted.
type inbox struct {
	mu     sync.Mutex
	bodies []string
	status int
}

func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, _ := io.ReadAll(r.Body)
	if b.status != 0 {
		http.Error(w, "not now", b.status)
		return
	}
	b.bodies = append(b.bodies, string(text))
}

func (b *inbox) refuse(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = status
}

func (b *inbox) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.bodies
	b.bodies = nil
	return out
}

func notifier(t *testing.T, p *platform, cfg Config) *Notifier {
	t.Helper()
	n := New(cfg, p, "https://faultline.example/", slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	n.now = func() time.Time { return p.now }
	return n
}

func alerts(t *testing.T, bodies []string) (out []alert) {
	t.Helper()
	for _, one := range bodies {
		var part []alert
		if err := json.Unmarshal([]byte(one), &part); err != nil {
			t.Fatal(err)
		}
		out = append(out, part...)
	}
	return out
}

func TestAlertmanagerIsToldOfEachIncidentOnce(t *testing.T) {
	box := &inbox{}
	server := httptest.NewServer(box)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	p := newPlatform()
	cfg := DefaultConfig()
	cfg.Alertmanager = []string{server.URL + "/"}
	n := notifier(t, p, cfg)
	n.look(t.Context())
	if got := box.take(); len(got) != 0 {
		t.Errorf("nothing is wrong: %v", got)
	}
	p.hit("a-1", correlator.High, false)
	n.look(t.Context())
	first := alerts(t, box.take())
	if len(first) != 1 || first[0].Labels["owner"] != "hardware" || first[0].Labels["layer"] != "node" || first[0].Labels["severity"] != "critical" ||
		!first[0].EndsAt.Equal(p.now.Add(4*cfg.Every)) || !strings.HasPrefix(first[0].GeneratorURL, "https://faultline.example/ui/incidents/i-") {
		t.Fatalf("%+v", first)
	}
	p.hit("a-2", correlator.High, false)
	n.look(t.Context())
	second := alerts(t, box.take())
	if len(second) != 1 || second[0].Labels["incident_id"] != first[0].Labels["incident_id"] || !strings.Contains(second[0].Annotations["description"], "a-1, a-2") ||
		!strings.Contains(second[0].Annotations["summary"], "2 allocations") {
		t.Fatalf("%+v", second)
	}
	// it is away while the incident ends, and is told when it is back
	box.refuse(http.StatusServiceUnavailable)
	p.hit("a-1", correlator.High, true)
	p.hit("a-2", correlator.High, true)
	n.look(t.Context())
	p.now = p.now.Add(cfg.Every)
	box.refuse(0)
	n.look(t.Context())
	last := alerts(t, box.take())
	if len(last) != 1 || last[0].EndsAt.After(p.now) || last[0].Labels["incident_id"] != first[0].Labels["incident_id"] {
		t.Fatalf("%+v", last)
	}
	n.look(t.Context())
	if got := box.take(); len(got) != 0 {
		t.Errorf("it was over already: %v", got)
	}
}

// What changes the labels of an alert ends the one before.
func TestAnotherSeverityIsAnotherAlert(t *testing.T) {
	box := &inbox{}
	server := httptest.NewServer(box)
	defer server.Close()
	p := newPlatform()
	cfg := DefaultConfig()
	cfg.Alertmanager = []string{server.URL}
	n := notifier(t, p, cfg)
	p.hit("a-1", correlator.Low, false)
	n.look(t.Context())
	p.hit("a-1", correlator.High, false)
	n.look(t.Context())
	open := map[string]bool{}
	for _, a := range alerts(t, box.take()) {
		open[a.Labels["severity"]] = a.EndsAt.After(p.now)
	}
	if len(open) != 2 || open["warning"] || !open["critical"] {
		t.Errorf("%v", open)
	}
}

func TestTheWebhookIsToldOfChanges(t *testing.T) {
	box := &inbox{}
	server := httptest.NewServer(box)
	defer server.Close()
	p := newPlatform()
	cfg := DefaultConfig()
	cfg.Webhook = server.URL + "/hook?key=secret"
	n := notifier(t, p, cfg)
	f := func(what string, want ...string) {
		t.Helper()
		n.look(t.Context())
		var got []string
		for _, one := range box.take() {
			var m Message
			if err := json.Unmarshal([]byte(one), &m); err != nil || m.Version != "1" || m.Incident.ID == "" || m.Page != "https://faultline.example/ui/incidents/"+m.Incident.ID {
				t.Fatalf("%v: %s", err, one)
			}
			got = append(got, fmt.Sprintf("%s %d", m.Status, len(m.Incident.Victims)))
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	f("nothing is wrong")
	p.hit("a-1", correlator.Medium, false)
	f("an incident", "open 1")
	p.now = p.now.Add(time.Minute)
	f("it goes on")
	p.hit("a-2", correlator.Medium, false)
	f("a second victim", "changed 2")
	box.refuse(http.StatusBadGateway)
	p.hit("a-1", correlator.High, false)
	f("it is away")
	box.refuse(0)
	f("it is back", "changed 2")
	delete(p.all, "a-1")
	delete(p.all, "a-2")
	f("nobody knows of it any more", "over 2")
	f("that was said")
	if len(n.receivers[0].(*webhook).sent) != 0 {
		t.Error("what is gone is held in memory")
	}
	p.err = errors.New("the store is away")
	f("nobody knows")
}

func TestErrorsNameNoSecret(t *testing.T) {
	var said strings.Builder
	p := newPlatform()
	p.hit("a-1", correlator.High, false)
	cfg := DefaultConfig()
	cfg.Webhook, cfg.Alertmanager = "http://127.0.0.1:1/hook?key=hidden", []string{"http://user:hidden@127.0.0.1:1"}
	n := New(cfg, p, "https://faultline.example", slog.New(slog.NewTextHandler(&said, nil)), prometheus.NewRegistry())
	n.look(t.Context())
	n.look(t.Context())
	if strings.Contains(said.String(), "hidden") || strings.Count(said.String(), "\n") != 2 {
		t.Errorf("%s", said.String())
	}
	cfg.Webhook, cfg.Alertmanager, cfg.Victims, cfg.Every = "hidden", []string{"hidden"}, 0, 0
	err := cfg.Validate()
	for _, key := range []string{"notify.alertmanager", "notify.webhook", "notify.victims", "notify.every"} {
		if err == nil || !strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// A real Alertmanager takes an incident, shows it under its owner, and resolves it.
func TestARealAlertmanager(t *testing.T) {
	program, err := exec.LookPath("prometheus-alertmanager")
	if err != nil {
		if program, err = exec.LookPath("alertmanager"); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip("SKIPPED: no alertmanager (Debian: apt-get install prometheus-alertmanager); it is NOT told of incidents here")
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	example, err := os.ReadFile("../../dashboards/prometheus/alertmanager.example.yml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "alertmanager.yml")
	if err := os.WriteFile(file, example, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "--config.file="+file, "--web.listen-address="+address, "--cluster.listen-address=", "--storage.path="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Signal(syscall.SIGTERM) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	active := func() (found []alert, err error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v2/alerts?active=true", nil)
		if err != nil {
			return nil, err
		}
		answer, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = answer.Body.Close() }()
		return found, json.NewDecoder(answer.Body).Decode(&found)
	}
	until := func(what string, holds func([]alert) bool) {
		t.Helper()
		for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			found, err := active()
			if err == nil && holds(found) {
				return
			}
			if time.Since(begun) > 30*time.Second {
				t.Fatalf("%s: %v %v", what, found, err)
			}
		}
	}
	until("it answers", func(a []alert) bool { return len(a) == 0 })
	p := newPlatform()
	cfg := DefaultConfig()
	cfg.Alertmanager = []string{"http://" + address}
	n := notifier(t, p, cfg)
	defer n.receivers[0].(*alertmanager).client.CloseIdleConnections()
	p.hit("a-1", correlator.High, false)
	n.look(t.Context())
	until("one incident", func(a []alert) bool {
		return len(a) == 1 && a[0].Labels["owner"] == "hardware" && strings.Contains(a[0].Annotations["description"], "a-1")
	})
	p.hit("a-2", correlator.High, false)
	n.look(t.Context())
	until("two victims", func(a []alert) bool {
		return len(a) == 1 && strings.Contains(a[0].Annotations["summary"], "2 allocations")
	})
	p.hit("a-1", correlator.High, true)
	p.hit("a-2", correlator.High, true)
	n.look(t.Context())
	until("it is resolved", func(a []alert) bool { return len(a) == 0 })
}

func TestMetricsAreDocumented(t *testing.T) {
	reg := &doctest.Registry{}
	New(DefaultConfig(), newPlatform(), "", slog.New(slog.DiscardHandler), reg)
	doctest.Metrics(t, "../../docs/metrics.md", "telling of incidents", *update, reg.Taken...)
}
