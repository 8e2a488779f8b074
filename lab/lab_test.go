package lab_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryStoryLeavesItsTraces(t *testing.T) {
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
		shows func(id string) bool
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
		if w.shows != nil && !w.shows(id) {
			t.Errorf("%s %s: the export does not show it", truth.Story, id)
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

// A provisioner that is stopped in the middle of everything goes on where it was: nothing is launched
// twice, no move is illegal, every allocation comes to its end.
func TestProvisionerRestartsMidRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.2)
	s.lab.Count, s.lab.Stories = 6, []string{"healthy"}
	stop := s.run(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
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
	all := firsts(t, s.records(t))
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
	// A client whose patience (three tries) is shorter than the restart gives up, and says so.
	truths, gaveUp := s.truths(t), map[string]bool{}
	for _, r := range all {
		if r.Service == "cli" && get(r, semconv.ErrorType) == "gave_up" {
			gaveUp[get(r, semconv.AllocationID)] = true
		}
	}
	if len(truths)+len(gaveUp) != 6 || len(truths) < 3 {
		t.Fatalf("%d stories as written, %d whose client gave up, want 6", len(truths), len(gaveUp))
	}
	for id := range truths {
		if got := path(all, id); len(got) == 0 || got[len(got)-1] != semconv.Released {
			t.Errorf("%s ended as %v", id, got)
		}
	}
}

// A lab that is stopped while all its nodes are in use finds its clients' allocations when it comes
// back, and goes on: otherwise its nodes would be taken for ever.
func TestLabRestartsMidRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.2)
	s.lab.Nodes, s.lab.Stories, s.lab.Every = 3, []string{"healthy"}, time.Second
	stop := s.run(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3500*time.Millisecond)
	defer cancel()
	if err := lab.Run(ctx, s.lab, s.log); err != nil {
		t.Fatal(err)
	}
	before := s.truths(t)
	held := 0
	for _, r := range s.records(t) {
		if r.Name == semconv.EventAllocationState && before[get(r, semconv.AllocationID)].Story == "" && get(r, semconv.To) == semconv.Provisioning {
			held++
		}
	}
	if held == 0 {
		t.Fatal("nothing was left behind, so there is nothing to see here")
	}
	s.lab.Count = 3
	ctx, cancel = context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	if err := lab.Run(ctx, s.lab, s.log); err != nil {
		t.Fatal(err)
	}
	stop()
	if got := len(s.truths(t)) - len(before); got != 3 {
		t.Errorf("%d stories were told after the restart, want 3", got)
	}
	all := s.records(t)
	checkMoves(t, all)
	reclaimed := anyOf(all, func(r *record.Record) bool {
		return r.Name == semconv.EventAudit && get(r, semconv.ActorType) == "admin" && get(r, semconv.Reason) == "its client is gone"
	})
	if !reclaimed {
		t.Error("nobody is said to have reclaimed anything")
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
