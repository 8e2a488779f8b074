package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
)

// strand leaves an allocation whose release has failed, on a node in cleanup.
func (b *bench) strand(id string) {
	b.t.Helper()
	err := b.store.Update(context.Background(), "strand", func(t *store.Tx) error {
		if err := t.RegisterNode("n-"+id, "p"); err != nil {
			return err
		}
		a, err := t.CreateAllocation(store.Allocation{ID: id, Pool: "p", Image: "i", RequestedBy: "alice"})
		if err != nil {
			return err
		}
		n, err := t.Node("n-" + id)
		if err != nil {
			return err
		}
		if err := t.Reserve(&n, &a); err != nil {
			return err
		}
		facts := lifecycle.Facts{Actor: "alice", Why: "done", TasksDone: true, Observed: true}
		for _, to := range []string{semconv.Reserved, semconv.Provisioning, semconv.Active, lifecycle.Cleanup, semconv.Releasing, semconv.ReleaseFailed} {
			if to == lifecycle.Cleanup {
				err = t.MoveNode(&n, to, "release", lifecycle.NodeFacts{})
			} else {
				err = t.MoveAllocation(&a, to, "", facts)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) audit(query string) []rest.AuditEntry {
	b.t.Helper()
	var log rest.AuditLog
	w := b.call(b.control, "GET", "/v1/audit?"+query, "")
	b.want(w, 200, "")
	if err := json.Unmarshal(w.Body.Bytes(), &log); err != nil {
		b.t.Fatal(err)
	}
	return log.Entries
}

func problem(w *httptest.ResponseRecorder) (p rest.Problem) {
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	return p
}

func TestRecoveryOverHTTP(t *testing.T) {
	b := newBench(t, store.Options{})
	b.strand("a-1")
	at := "/v1/recovery/allocations/a-1/"
	const word = `{"actor":"kim","reason":"mended"}`

	w := b.call(b.control, "POST", at+"force-cleanup", `{"actor":"kim","reason":"scrapped","runtime_verified_absent":true}`)
	b.want(w, 422, "evidence_missing")
	if p := problem(w); p.Guard != "verified_absent" || !strings.Contains(p.SatisfiedBy, "evidence") || strings.Join(p.Legal, " ") != "retry-release force-release force-cleanup repair-projection" {
		t.Fatalf("%+v", p)
	}
	w = b.call(b.control, "POST", at+"cancel", word)
	b.want(w, 409, "illegal_move")
	b.want(b.call(b.control, "POST", at+"retry-release", `{"reason":"mended"}`), 422, "unnamed_actor")
	b.want(b.call(b.control, "POST", at+"retry-release", `{"actor":"kim"}`), 422, "unnamed_actor")
	b.want(b.call(b.control, "POST", at+"retry-release?dry_run=perhaps", word), 400, "")
	b.want(b.call(b.control, "POST", at+"retry-relase", word), 404, "")
	b.want(b.call(b.control, "POST", "/v1/recovery/computers/a-1/fence", word), 404, "")
	b.want(b.call(b.control, "POST", "/v1/recovery/allocations/a-9/cancel", word), 404, "")
	b.want(b.call(b.control, "POST", "/v1/recovery/messages/a-1/skip", word), 404, "")
	b.want(b.call(b.control, "GET", at+"cancel", ""), 405, "")
	if got := len(b.audit("outcome=refused")); got != 4 { // of guards; what is malformed is no attempt
		t.Fatal(got)
	}

	tried := b.call(b.control, "POST", at+"retry-release?dry_run=true", word, rest.HeaderIdempotencyKey, "k-1")
	b.want(tried, 200, "")
	first := b.call(b.control, "POST", at+"retry-release", word, rest.HeaderIdempotencyKey, "k-1")
	b.want(first, 200, "")
	again := b.call(b.control, "POST", at+"retry-release", `{"reason" : "mended", "actor" : "kim"}`, rest.HeaderIdempotencyKey, "k-1")
	b.want(again, 200, "")
	if !bytes.Equal(first.Body.Bytes(), again.Body.Bytes()) || again.Header().Get(rest.HeaderReplayed) != "true" || first.Header().Get(rest.HeaderReplayed) != "" {
		t.Fatalf("%s\n%s", first.Body, again.Body)
	}
	b.want(b.call(b.control, "POST", at+"retry-release", `{"actor":"kim","reason":"other"}`, rest.HeaderIdempotencyKey, "k-1"), 422, "key_reused")
	b.want(b.call(b.control, "POST", at+"retry-release", word, rest.HeaderIdempotencyKey, "a b"), 400, "")
	b.want(b.call(b.control, "POST", at+"retry-release", word, rest.HeaderIdempotencyKey, ""), 400, "")

	var table rest.RecoveryActions
	w = b.call(b.control, "GET", "/v1/recovery/actions", "")
	if err := json.Unmarshal(w.Body.Bytes(), &table); err != nil || len(table.Actions) != len(recovery.Actions()) {
		t.Fatal(w.Body)
	}
	b.want(b.call(b.control, "GET", "/v1/recovery/stuck?older=1ns", ""), 200, "")
	b.want(b.call(b.control, "GET", "/v1/recovery/stuck?older=-1s", ""), 400, "")
	b.want(b.call(b.control, "GET", "/v1/recovery/stuck?older=soon", ""), 400, "")
	b.want(b.call(b.control, "GET", "/v1/recovery/stuck?kind=nodes", ""), 400, "")
	b.want(b.call(b.control, "GET", "/v1/audit?limit=501", ""), 400, "")
	b.want(b.call(b.control, "GET", "/v1/audit?after=au-none", ""), 400, "")
}

// The older way to give a node back is force-cleanup by another name.
func TestRepairIsForceCleanup(t *testing.T) {
	b := newBench(t, store.Options{})
	b.strand("a-1")
	b.want(b.call(b.control, "POST", "/v1/nodes/n-a-1/repair", `{"actor":"kim","reason":"x"}`), 422, "evidence_missing")
	w := b.call(b.control, "POST", "/v1/nodes/n-a-1/repair", `{"actor":"kim","reason":"x","runtime_verified_absent":true,"evidence":"console"}`)
	b.want(w, 200, "")
	var n rest.Node
	if err := json.Unmarshal(w.Body.Bytes(), &n); err != nil || n.Occupancy != lifecycle.Free || n.AllocationID != "" {
		t.Fatal(w.Body)
	}
	if e := b.audit("limit=1")[0]; e.Action != "force_cleanup" || e.Evidence != "console" || e.AllocationID != "a-1" {
		t.Fatalf("%+v", e)
	}
}

// What can be understood in two ways, or not at all, is refused before anything is done.
func TestBodiesThatAreNoRequests(t *testing.T) {
	b := newBench(t, store.Options{})
	b.strand("a-1")
	f := func(body string, status int, says string, headers ...string) {
		t.Helper()
		w := b.call(b.control, "POST", "/v1/recovery/allocations/a-1/retry-release", body, headers...)
		b.want(w, status, "")
		if p := problem(w); !strings.Contains(p.Detail, says) {
			t.Fatalf("%q, want %q", p.Detail, says)
		}
	}
	f(``, 400, "a JSON object is wanted")
	f(`null`, 400, "a JSON object is wanted")
	f(`"x"`, 400, "a JSON object is wanted")
	f(`[{}]`, 400, "a JSON object is wanted")
	f(`{"reason":"x"`, 400, "")
	f(`{"reason":"x"}{}`, 400, "more than one JSON value")
	f(`{"reason":"x"} trailing`, 400, "more than one JSON value")
	f(`{"reason":"x","reason":"y"}`, 400, `key "reason" comes twice`)
	f(`{"dry_run":true,"Dry_Run":false,"reason":"x"}`, 400, "comes twice")
	f(`{"verdict":{"id":"a","ID":"b"},"reason":"x"}`, 400, "comes twice")
	f(`{"resaon":"x"}`, 400, `unknown field "resaon"`)
	f(`{"reason":7}`, 400, "cannot unmarshal number")
	f(`{"dry_run":"yes"}`, 400, "cannot unmarshal string")
	f(`{"verdict":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`}`, 400, "nested too deep")
	f("{\"reason\":\"\xff\"}", 400, "no UTF-8")
	f(`{"reason":"a\u0000b"}`, 400, "control characters")
	f(`{"reason":"`+strings.Repeat("x", 2000)+`"}`, 400, "longer than")
	f(`{"reason":"`+strings.Repeat("x", 100<<10)+`"}`, 413, "")
	f(`{"reason":"x","verdict":{"summary":"`+strings.Repeat("x", 2000)+`"}}`, 400, "verdict.summary")
	f(`{"reason":"x","actor":"a b"}`, 400, "actor")
	f(`{"reason":"x"}`, 415, "application/json is wanted", "Content-Type", "text/plain")
	f(`reason=x`, 415, "application/json is wanted", "Content-Type", "application/x-www-form-urlencoded")
	f(`{"reason":"x"}`, 415, "", "Content-Type", ";;")
	f(`{"reason":"x"}`, 415, "content encoding", "Content-Encoding", "gzip")
	b.want(b.call(b.control, "POST", "/v1/recovery/allocations/a%2F1/retry-release", `{"reason":"x"}`), 400, "")
	b.want(b.call(b.control, "POST", "/v1/recovery/allocations/"+strings.Repeat("x", 200)+"/retry-release", `{"reason":"x"}`), 400, "")
	var a rest.Allocation
	if err := json.Unmarshal(b.call(b.control, "GET", "/v1/allocations/a-1", "").Body.Bytes(), &a); err != nil || a.State != semconv.ReleaseFailed {
		t.Fatalf("%+v, %v", a, err)
	}
	if rows := b.audit(""); len(rows) != 0 {
		t.Fatalf("%+v", rows)
	}
}

func TestWhatIsNotOffered(t *testing.T) {
	b := newBench(t, store.Options{})
	b.control = rest.NewControl(control.New(b.store, time.Minute).Offering(control.Catalog{Pools: []string{"p"}, Templates: []string{"i", "j"}}),
		recovery.New(b.store, recovery.DefaultConfig(), time.Minute), nil, nil, slog.New(slog.DiscardHandler))
	w := b.call(b.control, "POST", "/v1/allocations", strings.Replace(good, `"i"`, `"typo"`, 1))
	b.want(w, 422, "unknown_template")
	if p := problem(w); !strings.Contains(p.Detail, "offered are i, j") || p.SatisfiedBy == "" {
		t.Fatalf("%+v", p)
	}
	b.want(b.call(b.control, "POST", "/v1/allocations", strings.Replace(good, `"p"`, `"q"`, 1)), 422, "unknown_pool")
	b.want(b.call(b.control, "GET", "/v1/allocations/a-1", ""), 404, "") // nothing is half-done
	b.want(b.call(b.control, "POST", "/v1/allocations", good), 201, "")
}

// A result of somebody else's is refused, and on record.
func TestForgedResultsAreOnRecord(t *testing.T) {
	b := newBench(t, store.Options{})
	b.work(quick())
	as, other := b.agentOf("n-1"), b.agentOf("n-2")
	b.want(b.call(b.control, "POST", "/v1/allocations", good), 201, "")
	k := b.claim("n-1", as)
	forged := fmt.Sprintf(`{"claim_id":%q,"fence":%d,"ok":true}`, k.ClaimID, k.Fence)
	b.want(b.call(b.node, "POST", "/internal/v1/nodes/n-2/tasks/"+k.TaskID+"/result", forged, other...), 409, "wrong_claim")
	if rows := b.audit("node_id=n-2&outcome=denied&action=task_result"); len(rows) != 1 || !strings.Contains(rows[0].Detail, "wrong_claim") {
		t.Fatalf("%+v", rows)
	}
}
