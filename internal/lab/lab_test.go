package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/lab"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a provisioner and a lab on free ports, whose telemetry goes to one file.
type stage struct {
	lab         lab.Config
	provisioner provisioner.Config
	export      string
	log         *slog.Logger
}

func newStage(t *testing.T, scale float64) *stage {
	t.Helper()
	dir := t.TempDir()
	var held []net.Listener
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l) // all at once, so that no two are the same
		return l.Addr().String()
	}
	s := &stage{lab: lab.DefaultConfig(), export: filepath.Join(dir, "export.jsonl")}
	c := &s.lab
	c.Data, c.Scale, c.Export, c.Nodes, c.Telemetry.Endpoint = dir, scale, s.export, 6, ""
	c.Ingress, c.API, c.Auth, c.DeadAPI = port(), port(), port(), port()
	c.Telemetry.Heartbeat = time.Second
	s.provisioner = lab.ProvisionerConfig(*c)
	s.provisioner.Telemetry.Endpoint, s.provisioner.Telemetry.File = "", s.export
	s.provisioner.Control, s.provisioner.Node, s.provisioner.Ops, s.provisioner.Grace = port(), port(), port(), 3*time.Second
	c.Provisioner, c.NodeAPI = "http://"+s.provisioner.Control, s.provisioner.Node
	for _, l := range held {
		_ = l.Close()
	}
	out := io.Discard
	if testing.Verbose() {
		out = os.Stderr
	}
	s.log = slog.New(slog.NewTextHandler(out, nil))
	return s
}

// run starts a provisioner; the returned function stops it and waits.
func (s *stage) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- provisioner.Run(ctx, s.provisioner, s.log) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error("provisioner:", err)
		}
	}
}

func (s *stage) records(t *testing.T) []*record.Record {
	t.Helper()
	var all []*record.Record
	r := &otlpfile.Reader{
		Record: func(r *record.Record) { all = append(all, r) },
		Reject: func(r otlpfile.Rejection) { t.Error("export:", r) },
	}
	if err := r.ReadFile(s.export); err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *stage) truths(t *testing.T) map[string]lab.Truth {
	t.Helper()
	f, err := os.Open(filepath.Join(s.lab.Data, lab.TruthFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	out := map[string]lab.Truth{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v lab.Truth
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out[v.AllocationID] = v
	}
	return out
}

// get reads an attribute of the record, or of its resource.
func get(r *record.Record, key string) string {
	if v, ok := r.Attrs.Get(key); ok {
		return v
	}
	v, _ := r.Resource.Get(key)
	return v
}

// path is the allocation's states in order of time.
func path(all []*record.Record, allocation string) []string {
	var out []string
	for _, r := range all {
		if r.Name == semconv.EventAllocationState && get(r, semconv.AllocationID) == allocation {
			out = append(out, get(r, semconv.To))
		}
	}
	return out
}

func anyOf(all []*record.Record, is func(*record.Record) bool) bool {
	for _, r := range all {
		if is(r) {
			return true
		}
	}
	return false
}

func TestEveryStoryLeavesItsFacts(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.33)
	s.lab.Count = 12
	stop := s.run(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := lab.Run(ctx, s.lab, s.log); err != nil {
		t.Fatal(err)
	}
	stop()
	all := s.records(t)
	nodeOf := map[string]string{}
	for _, r := range all {
		if r.Name == semconv.EventNodeAssigned {
			nodeOf[get(r, semconv.AllocationID)] = get(r, semconv.NodeID)
		}
	}
	refusedHandshake := func(words string) func(string) bool {
		return func(id string) bool {
			return anyOf(all, func(r *record.Record) bool {
				return r.Service == "ingress-proxy" && get(r, semconv.TLSPeerSubject) == "CN="+nodeOf[id] && strings.Contains(r.Body, "CN="+nodeOf[id]+" refused") &&
					strings.Contains(r.Body, words)
			}) && !anyOf(all, func(r *record.Record) bool {
				return get(r, semconv.AllocationID) == id && get(r, semconv.To) == semconv.Dispatched
			})
		}
	}
	const failed = "requested reserved provisioning failed"
	want := map[string]struct {
		path  string
		facts func(id string) bool
	}{
		"healthy": {"requested reserved provisioning active releasing released", nil},
		"slow":    {"requested reserved provisioning active releasing released", nil},
		"cancel": {"requested reserved provisioning canceling releasing canceled", func(id string) bool {
			return anyOf(all, func(r *record.Record) bool {
				return r.Name == semconv.EventAudit && get(r, semconv.AllocationID) == id && get(r, semconv.Action) == "cancel" && get(r, semconv.ActorType) == "user"
			})
		}},
		"cert_expired":   {failed, refusedHandshake("x509: certificate has expired or is not yet valid: current time")},
		"cert_untrusted": {failed, refusedHandshake("x509: certificate signed by unknown authority")},
		"agent_silent": {failed, func(id string) bool {
			var began, ended int64
			for _, r := range all {
				if r.Name == semconv.EventTaskState && get(r, semconv.AllocationID) == id {
					if began == 0 {
						began = r.Time
					}
					ended = r.Time
				}
			}
			during := func(service string) bool {
				return anyOf(all, func(r *record.Record) bool {
					return r.Service == service && get(r, semconv.NodeID) == nodeOf[id] && r.Time > began && r.Time < ended
				})
			}
			return began > 0 && !during("node-agent") && during("node")
		}},
		"no_backend": {"", func(id string) bool {
			request := ""
			for _, r := range all {
				if r.Service == "cli" && get(r, semconv.AllocationID) == id && get(r, semconv.RequestID) != "" {
					request = get(r, semconv.RequestID)
				}
			}
			return anyOf(all, func(r *record.Record) bool {
				upstream, there := r.Attrs.Get(semconv.UpstreamAddress)
				return r.Signal == record.Log && r.Service == "ingress-proxy" && get(r, semconv.RequestID) == request && get(r, semconv.HTTPStatusCode) == "503" &&
					there && upstream == "" && get(r, semconv.ProxyFlags) == "UH" && get(r, semconv.AllocationID) == ""
			})
		}},
		"refused": {"", func(id string) bool {
			return anyOf(all, func(r *record.Record) bool {
				return r.Service == "auth-service" && get(r, semconv.AllocationID) == id && get(r, semconv.HTTPStatusCode) == "403" && strings.Contains(r.Body, "no policy entry")
			}) && anyOf(all, func(r *record.Record) bool {
				return r.Service == "fulfillment-api" && get(r, semconv.AllocationID) == id && get(r, semconv.HTTPStatusCode) == "403"
			})
		}},
	}
	told := map[string]bool{}
	for id, truth := range s.truths(t) {
		w := want[truth.Story]
		told[truth.Story] = true
		if got := strings.Join(path(all, id), " "); got != w.path {
			t.Errorf("%s %s went %q, want %q", truth.Story, id, got, w.path)
		}
		if w.facts != nil && !w.facts(id) {
			t.Errorf("%s %s: its facts are not in the export", truth.Story, id)
		}
	}
	for name := range want {
		if !told[name] {
			t.Errorf("story %s was not told", name)
		}
	}
	checkMoves(t, all)
	checkIdentifiers(t, all)
	checkTraces(t, all)
	for _, r := range all {
		for _, name := range []string{"cert_expired", "cert_untrusted", "agent_silent", "no_backend"} {
			if strings.Contains(r.Body, name) {
				t.Fatalf("the truth is in telemetry: %s", r.Body)
			}
		}
	}
}

// checkMoves wants only legal moves, told in an order that fits.
func checkMoves(t *testing.T, all []*record.Record) {
	t.Helper()
	at := map[string]string{}
	for _, r := range all {
		if r.Name != semconv.EventAllocationState {
			continue
		}
		id, from, to := get(r, semconv.AllocationID), get(r, semconv.From), get(r, semconv.To)
		if from != at[id] || !semconv.LegalMove(from, to) {
			t.Errorf("%s went from %q to %q while it was %q", id, from, to, at[id])
		}
		at[id] = to
	}
}

func checkIdentifiers(t *testing.T, all []*record.Record) {
	t.Helper()
	events := map[string]bool{}
	seen := map[string]bool{}
	for _, r := range all {
		for _, key := range []string{semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID, semconv.NodeID, semconv.NodeInstanceID} {
			seen[key] = seen[key] || get(r, key) != ""
		}
		if r.Signal != record.Log || r.Name == "" {
			continue
		}
		id := get(r, semconv.EventIDKey)
		if id == "" || events[id] {
			t.Fatalf("event %s has event_id %q, which is empty or was used before", r.Name, id)
		}
		events[id] = true
	}
	if len(seen) != 5 {
		t.Fatalf("identifiers that appear: %v", seen)
	}
	for key, ok := range seen {
		if !ok {
			t.Errorf("%s never appears", key)
		}
	}
	for _, r := range all {
		if (r.Service == "kernel" || r.Service == "journald") && (get(r, semconv.AllocationID) != "" || get(r, semconv.BootID) == "" || get(r, semconv.NodeID) == "") {
			t.Fatalf("%s knows too much or too little: %v %v", r.Service, r.Attrs, r.Resource)
		}
	}
}

// checkTraces wants one trace from the client to the database.
func checkTraces(t *testing.T, all []*record.Record) {
	t.Helper()
	services := map[string]map[string]bool{}
	spans := map[string]bool{}
	for _, r := range all {
		if r.Signal != record.Span {
			continue
		}
		spans[r.SpanID] = true
		if services[r.TraceID] == nil {
			services[r.TraceID] = map[string]bool{}
		}
		services[r.TraceID][r.Service] = true
	}
	whole := false
	for _, s := range services {
		whole = whole || s["cli"] && s["ingress-proxy"] && s["fulfillment-api"] && s["auth-service"] && s["provisioner"] && s["db"] && s["outbox-relay"]
	}
	if !whole {
		t.Error("no trace runs from the client through ingress, api, auth and provisioner to the database")
	}
	orphans := 0
	for _, r := range all {
		if r.Signal == record.Span && r.ParentID != "" && !spans[r.ParentID] {
			orphans++
			t.Logf("span %s of %s has a parent that was never sent", r.Name, r.Service)
		}
	}
	if orphans > 0 {
		t.Errorf("%d spans have no parent", orphans)
	}
}

// A provisioner that is stopped in the middle of everything goes on where it was: nothing is launched
// twice, no move is illegal, every allocation comes to its end.
func TestProvisionerRestartsMidRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.2)
	s.lab.Count, s.lab.Stories = 6, []string{"healthy"}
	stop := s.run(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- lab.Run(ctx, s.lab, s.log) }()
	time.Sleep(2500 * time.Millisecond)
	stop()
	time.Sleep(200 * time.Millisecond)
	stop = s.run(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	stop()
	all := s.records(t)
	checkMoves(t, all)
	launched := map[string]string{}
	for _, r := range all {
		if r.Name != semconv.EventTaskState || get(r, semconv.To) != semconv.Succeeded {
			continue
		}
		job := get(r, semconv.AllocationID) + " " + get(r, semconv.TaskType)
		if other := launched[job]; other != "" {
			t.Errorf("%s was done twice: %s and %s", job, other, get(r, semconv.TaskID))
		}
		launched[job] = get(r, semconv.TaskID)
	}
	truths := s.truths(t)
	if len(truths) != 6 {
		t.Fatalf("%d stories, want 6", len(truths))
	}
	for id := range truths {
		if got := path(all, id); len(got) == 0 || got[len(got)-1] != semconv.Released {
			t.Errorf("%s ended as %v", id, got)
		}
	}
}

func TestEverythingStopsInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.2)
	stop := s.run(t)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	began := time.Now()
	if err := lab.Run(ctx, s.lab, s.log); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Fatalf("stopped only after %s", took)
	}
	stop()
}
