package recovery_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// told runs f on a service whose store tells its events into a file, and gives what was told.
func told(t *testing.T, f func(*bench)) string {
	t.Helper()
	c := telemetry.DefaultConfig()
	c.Endpoint, c.File = "", filepath.Join(t.TempDir(), "told.jsonl")
	exporter, err := telemetry.Open(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "p.db"), store.Options{
		Emitter: exporter.Emitter("provisioner"), DB: exporter.Emitter("db"), Relay: exporter.Emitter("outbox-relay"),
	})
	if err != nil {
		t.Fatal(err)
	}
	f(&bench{t, s, recovery.New(s, recovery.DefaultConfig(), time.Minute)})
	last, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := exporter.Close(last); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What was done is an operator's hand on the timeline; what was tried or refused is not.
func TestWhatWasDoneIsTold(t *testing.T) {
	text := told(t, func(b *bench) {
		node, _ := b.live("a-1", semconv.ReleaseFailed)
		b.must(recovery.Nodes, "fence", asks(node))
		r := asks("a-1")
		r.Verdict = &recovery.Verdict{ID: "inc-7", Layer: "node", Owner: "hardware"}
		b.must(recovery.Allocations, "force-cleanup", r)
	})
	for _, want := range []string{
		`"audit.action"`, `"force_cleanup"`, `"fence"`, `"allocation a-1 release_failed, node n-a-1 fenced"`, `"allocation a-1 released, node n-a-1 free"`,
		`"runtime_verified_absent"`, `"evidence_refs"`, `"console:7"`, `hardware`, `"correlation_id"`, `"node.unassigned"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	text = told(t, func(b *bench) {
		b.live("a-1", semconv.ReleaseFailed)
		dry := asks("a-1")
		dry.DryRun = true
		b.must(recovery.Allocations, "force-release", dry)
		_, _, err := b.do(recovery.Allocations, "cancel", asks("a-1"))
		if err == nil {
			b.t.Fatal("was not refused")
		}
	})
	if strings.Contains(text, `"audit.action"`) || strings.Contains(text, `"force_release"`) || strings.Contains(text, "rehearsed") {
		t.Errorf("told of what was not done:\n%s", text)
	}
	if !strings.Contains(text, "cancel by kim refused: guard allocation_not_active_yet") {
		t.Errorf("no line of the refusal:\n%s", text)
	}
}

// A node that is given back while the verdict is fetched is fenced as nobody's: what is told of the fence does not
// name the allocation that had the node before.
func TestAFenceIsOfWhoeverHasTheNodeThen(t *testing.T) {
	text := told(t, func(b *bench) {
		node, _ := b.live("a-1", semconv.ReleaseFailed)
		verdicts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			b.update(func(t *store.Tx) error {
				n, err := t.Node(node)
				if err != nil {
					return err
				}
				return t.MoveNode(&n, lifecycle.Free, "wiped", lifecycle.NodeFacts{Proof: "task t-1"})
			})
			w.WriteHeader(http.StatusNotFound)
		}))
		defer verdicts.Close()
		c := recovery.DefaultConfig()
		c.Verdicts = verdicts.URL
		b.service = recovery.New(b.store, c, time.Minute)
		b.must(recovery.Nodes, "fence", asks(node))
	})
	fences := 0
	for event := range strings.SplitSeq(text, `{"timeUnixNano"`) {
		if strings.Contains(event, `"node.occupancy"`) && strings.Contains(event, `"fenced"`) {
			if fences++; strings.Contains(event, `"`+semconv.AllocationID+`"`) {
				t.Errorf("a fence of a node that nobody has: %s", event)
			}
		}
	}
	if fences != 1 {
		t.Fatalf("%d fences in\n%s", fences, text)
	}
}
