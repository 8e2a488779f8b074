package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/access"
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
	b.want(b.call(b.control, "POST", "/v1/recovery/machines/a-1/fence", word), 404, "")
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

func TestWhoMayWhat(t *testing.T) {
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "p.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var tokens []access.Token
	bearer := map[string]string{}
	for _, role := range []access.Role{access.Viewer, access.Operator, access.Admin} {
		secret, one := access.NewToken(role.String(), role, time.Time{})
		tokens, bearer[role.String()] = append(tokens, one), "Bearer "+secret
	}
	gone, old := access.NewToken("gone", access.Admin, time.Now().Add(-time.Second))
	gate, err := access.Open(access.Config{Tokens: append(tokens, old)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	b := &bench{t: t, store: s, control: rest.NewControl(control.New(s, time.Minute), recovery.New(s, recovery.DefaultConfig(), time.Minute), gate, nil, log)}
	f := func(method, path, body string, viewer, operator, admin int) {
		t.Helper()
		for who, want := range map[string]int{"viewer": viewer, "operator": operator, "admin": admin} {
			w := b.call(b.control, method, path, body, "Authorization", bearer[who])
			if w.Code != want {
				t.Fatalf("%s: %s %s: %d %s, want %d", who, method, path, w.Code, w.Body, want)
			}
		}
		w := b.call(b.control, method, path, body)
		if b.want(w, 401, "token_missing"); !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer ") {
			t.Fatal(w.Header())
		}
		b.want(b.call(b.control, method, path, body, "Authorization", "Bearer "+gone), 401, "token_expired")
	}
	f("GET", "/v1/allocations", "", 200, 200, 200)
	f("GET", "/v1/recovery/stuck", "", 200, 200, 200)
	f("GET", "/v1/recovery/actions", "", 200, 200, 200)
	f("GET", "/v1/audit", "", 200, 200, 200)
	f("POST", "/v1/allocations", `{}`, 403, 400, 400)
	f("POST", "/v1/nodes", `{}`, 403, 403, 400)
	f("POST", "/v1/nodes/n-1/repair", `{}`, 403, 403, 404)
	for _, a := range recovery.Actions() {
		want := map[access.Role][3]int{access.Operator: {403, 404, 404}, access.Admin: {403, 403, 404}}[a.Role]
		f("POST", "/v1/recovery/"+string(a.Of)+"/x-1/"+a.Name, `{"reason":"x"}`, want[0], want[1], want[2])
	}
	f("POST", "/v1/recovery/allocations/x-1/no-such-thing", `{"reason":"x"}`, 404, 404, 404)
	as := func(who string) []string { return []string{"Authorization", bearer[who]} }
	b.want(b.call(b.control, "POST", "/v1/recovery/nodes/n-1/fence", `{"reason":"x","actor":"admin"}`, as("operator")...), 403, "actor_mismatch")

	// The audit log says who was turned away; of strangers only so many rows are kept.
	rows := func(query string) []rest.AuditEntry {
		var page rest.AuditLog
		_ = json.Unmarshal(b.call(b.control, "GET", "/v1/audit?limit=500&"+query, "", as("viewer")...).Body.Bytes(), &page)
		return page.Entries
	}
	if n := len(rows("outcome=denied&actor=viewer")); n != len(recovery.Actions()) {
		t.Fatal(n)
	}
	if n := len(rows("outcome=denied&actor=unknown")); n == 0 || n > 10 {
		t.Fatal(n)
	}
	if n := len(rows("outcome=denied&actor=gone")); n == 0 { // it is known whose the token was
		t.Fatal(n)
	}
	for _, row := range rows("") {
		text, _ := json.Marshal(row)
		for _, secret := range bearer {
			if strings.Contains(string(text), strings.TrimPrefix(secret, "Bearer ")) {
				t.Fatalf("a token is in the audit log: %s", text)
			}
		}
	}

	// Where nobody is asked, a web page of another site is turned away.
	open := newBench(t, store.Options{})
	open.want(open.call(open.control, "POST", "/v1/recovery/nodes/n-1/fence", `{"reason":"x","actor":"k"}`, "Origin", "https://evil.example"), http.StatusForbidden, "foreign_origin")
}

func FuzzRecovery(f *testing.F) {
	b := newBench(f, store.Options{})
	b.strand("a-1")
	f.Add("allocations", "a-1", "force-cleanup", `{"actor":"kim","reason":"x","runtime_verified_absent":true,"evidence":"e","verdict":{"layer":"node"}}`, "k-1")
	f.Add("nodes", "n-a-1", "fence", `{"actor":"kim","reason":"x","dry_run":true}`, "")
	f.Add("messages", "ob-1", "skip", `{"reason":"\ud800","actor":"a"}`, "\x00")
	f.Add("allocations", "%00", "cancel", `{"reason":{"a":[1e999]},"Reason":""}`, "k")
	f.Fuzz(func(t *testing.T, of, id, action, body, key string) {
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/recovery/"+of+"/"+id+"/"+action, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set(rest.HeaderIdempotencyKey, key)
		w := httptest.NewRecorder()
		b.control.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%s: %d %s", r.URL, w.Code, w.Body)
		}
		var p rest.Problem
		if w.Code >= 400 && w.Code != http.StatusMethodNotAllowed && (json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Status != w.Code || p.Detail == "") {
			t.Fatalf("%s: %d is no problem document: %s", r.URL, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && !strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{") {
			t.Fatalf("%q was taken", body)
		}
	})
}
