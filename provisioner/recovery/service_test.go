package recovery_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

func TestTheVerdictIsOnRecord(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer flt_ours" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/api/v1/allocations/a-1/verdict" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"allocation_id":"a-1","verdict":{"outcome":"attributed","explanation":"x","as_of":"2026-03-02T10:00:00Z","rules_version":"9",
			"faults":[{"layer":"cert","mechanism":"expired","summary":"node certificate expired","owner":{"team":"pki"}}]}}`))
	}
	correlator := httptest.NewServer(http.HandlerFunc(answer))
	defer correlator.Close()
	b := newBench(t, t.TempDir()+"/p.db")
	c := recovery.DefaultConfig()
	c.Verdicts, c.VerdictsTokenFile = correlator.URL, filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(c.VerdictsTokenFile, []byte("flt_ours\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.service = recovery.New(b.store, c, time.Minute)
	b.live("a-1", semconv.ReleaseFailed)
	node2, _ := b.live("a-2", semconv.ReleaseFailed)
	node3, _ := b.live("a-3", semconv.Requested)

	got := b.must(recovery.Allocations, "repair-projection", asks("a-1")).Verdict
	if got.Source != recovery.FromQuery || got.Layer != "cert" || got.Mechanism != "expired" || got.Owner != "pki" || got.ID != "a-1@2026-03-02T10:00:00Z" || got.RulesVersion != "9" {
		t.Fatalf("%+v", got)
	}
	if row := b.rows()[0]; !strings.Contains(row.Verdict, `"owner":"pki"`) {
		t.Fatal(row.Verdict)
	}
	brought := asks("a-1")
	brought.Verdict = &recovery.Verdict{Source: "forged", ID: "inc-7", Layer: "node", Mechanism: "disk"}
	if got := b.must(recovery.Allocations, "repair-projection", brought).Verdict; got.Source != recovery.FromCaller || got.ID != "inc-7" {
		t.Fatalf("%+v", got)
	}
	// A correlator that knows nothing, or no allocation at all, stops nobody; that it was so is on record.
	if got := b.must(recovery.Nodes, "fence", asks(node2)).Verdict; got.Source != recovery.FromNobody || !strings.Contains(got.Absent, "404") {
		t.Fatalf("%+v", got)
	}
	if got := b.must(recovery.Nodes, "fence", asks(node3)).Verdict; got.Source != recovery.FromNobody || !strings.Contains(got.Absent, "no allocation") {
		t.Fatalf("%+v", got)
	}
	correlator.Close()
	if got := b.must(recovery.Allocations, "retry-release", asks("a-1")).Verdict; got.Source != recovery.FromNobody || !strings.Contains(got.Absent, "asked in vain") {
		t.Fatalf("%+v", got)
	}
}

func TestEverythingStuckIsListedWithWhatIsLegal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		for _, state := range []string{semconv.Active, semconv.Released, semconv.Canceled, semconv.Requested} {
			_, message := b.live("a-"+state, state)
			b.message(message, semconv.Published)
		}
		failed, _ := b.live("a-1", semconv.ReleaseFailed)
		b.must(recovery.Nodes, "fence", asks(failed))
		_, dead := b.live("a-2", semconv.Releasing)
		b.message(dead, semconv.Dead)
		b.update(func(t *store.Tx) error {
			return t.PutProjection(store.Projection{AllocationID: "a-2", Name: "cr", Failure: "hub is away"})
		})
		find := func(all recovery.Stuck, kind, id string) recovery.Item {
			t.Helper()
			for _, i := range all.Items {
				if i.Kind == kind && i.ID == id {
					return i
				}
			}
			t.Fatalf("no %s %s in %+v", kind, id, all.Items)
			return recovery.Item{}
		}
		names := func(i recovery.Item) (out []string) {
			for _, l := range i.Actions {
				out = append(out, l.Action)
			}
			return out
		}
		all, err := b.service.Stuck(context.Background(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		i := find(all, "allocation", "a-1")
		if i.Owner != "operator" || i.State != semconv.ReleaseFailed || !slices.Equal(names(i), []string{"force-release", "force-cleanup", "repair-projection"}) {
			t.Fatalf("%+v", i)
		}
		if i = find(all, "node", failed); i.State != lifecycle.Fenced || !strings.HasPrefix(i.Why, "ticket 7; held by a-1") || !slices.Equal(names(i), []string{"unfence", "re-enrol"}) {
			t.Fatalf("%+v", i)
		}
		if i = find(all, "message", dead); i.Owner != "operator" || !slices.Equal(names(i), []string{"republish", "skip"}) {
			t.Fatalf("%+v", i)
		}
		if i = find(all, "projection", "cr/a-2"); i.Why != "hub is away" || i.Owner != semconv.LayerProjection {
			t.Fatalf("%+v", i)
		}
		if slices.ContainsFunc(all.Items, func(i recovery.Item) bool {
			return i.Kind == "allocation" && i.ID != "a-1" || i.AllocationID == "a-active"
		}) {
			t.Fatalf("%+v", all.Items)
		}
		time.Sleep(2 * time.Millisecond)
		if all, err = b.service.Stuck(context.Background(), time.Nanosecond); err != nil {
			t.Fatal(err)
		}
		if i = find(all, "allocation", "a-requested"); i.Owner != semconv.LayerOutbox || !slices.Contains(names(i), "cancel") {
			t.Fatalf("%+v", i)
		}
		// What is mended is listed no longer.
		b.update(func(t *store.Tx) error {
			return t.PutProjection(store.Projection{AllocationID: "a-2", Name: "cr", Shown: "Running"})
		})
		if all, err = b.service.Stuck(context.Background(), time.Hour); err != nil || slices.ContainsFunc(all.Items, func(i recovery.Item) bool { return i.Kind == "projection" }) {
			t.Fatalf("%+v, %v", all, err)
		}
	})
}

// Many who press the same button at once do it once.
func TestTheSameKeyAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		b.live("a-1", semconv.ReleaseFailed)
		r := asks("a-1")
		r.Key = "k-1"
		var all sync.WaitGroup
		ids, errs := make([]string, 8), make([]error, 8)
		for n := range ids {
			all.Go(func() {
				answer, _, err := b.do(recovery.Allocations, "retry-release", r)
				ids[n], errs[n] = answer.AuditID, err
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if ids = slices.Compact(ids); len(ids) != 1 || ids[0] == "" {
			t.Fatal(ids)
		}
		if done := len(b.rows()); done != 1 {
			t.Fatalf("%d audit rows", done)
		}
	})
}

func TestTheAuditLogIsReadPageByPage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		b.live("a-1", semconv.Active)
		b.live("a-2", semconv.Active)
		for _, id := range []string{"a-1", "a-2", "a-1", "a-2", "a-1"} {
			b.must(recovery.Allocations, "repair-projection", asks(id))
		}
		page := func(f store.AuditFilter) (rows []store.Audit, err error) {
			err = b.store.View(context.Background(), "test", func(t *store.Tx) error {
				rows, err = t.AuditLog(f)
				return err
			})
			return rows, err
		}
		var seen []string
		f := store.AuditFilter{AllocationID: "a-1", Limit: 2}
		for {
			rows, err := page(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				seen = append(seen, row.ID)
			}
			if len(rows) < f.Limit {
				break
			}
			f.After = rows[len(rows)-1].ID
		}
		if slices.Sort(seen); len(slices.Compact(seen)) != 3 {
			t.Fatal(seen)
		}
		if _, err := page(store.AuditFilter{After: "au-none", Limit: 1}); !store.IsNotFound(err) {
			t.Fatal(err)
		}
		if rows, err := page(store.AuditFilter{Outcome: store.Denied, Limit: 9}); err != nil || len(rows) != 0 {
			t.Fatal(rows, err)
		}
	})
}
