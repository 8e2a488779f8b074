package rest_test

import (
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

	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// bench is both APIs on a store of their own, with an engine where a test starts it.
type bench struct {
	t             testing.TB
	store         *store.Store
	control, node http.Handler
	fleet         *fleet.Fleet
}

func newBench(t testing.TB, o store.Options) *bench {
	t.Helper()
	s := storetest.Open(t, filepath.Join(t.TempDir(), "p.db"), o)
	log := slog.New(slog.DiscardHandler)
	f := fleet.New(s, fleet.DefaultConfig(), nil)
	return &bench{t, s, rest.NewControl(control.New(s, time.Minute), recovery.New(s, recovery.DefaultConfig(), time.Minute), nil, nil, log), rest.NewNode(f, nil, log), f}
}

// work runs engine and relay until the test ends.
func (b *bench) work(c workflow.Config) {
	ctx, cancel := context.WithCancel(context.Background())
	log := slog.New(slog.DiscardHandler)
	e := workflow.New(b.store, c, nil, log)
	r := outbox.New(b.store, e, outbox.DefaultConfig(), nil, log)
	done := make(chan error, 2)
	go func() { done <- e.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()
	b.t.Cleanup(func() { cancel(); <-done; <-done })
}

// call sends a request; headers are key and value in turn.
func (b *bench) call(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:4711" // the ingress on this machine
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// want checks the status, and that an error is a problem document with that status.
func (b *bench) want(w *httptest.ResponseRecorder, status int, reason string) {
	b.t.Helper()
	if w.Code != status {
		b.t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if status < 400 {
		return
	}
	var p rest.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != status || p.Title == "" || p.Reason != reason {
		b.t.Fatalf("problem %+v, %v, want reason %q", p, err, reason)
	}
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		b.t.Fatalf("content type %q", got)
	}
}

const good = `{"allocation_id":"a-1","node_pool":"p","image":"i","requested_by":"alice"}`

func TestBadInputIsAProblemDocument(t *testing.T) {
	b := newBench(t, store.Options{})
	long := strings.Repeat("x", 10<<10)
	create := func(body string, status int) {
		t.Helper()
		b.want(b.call(b.control, "POST", "/v1/allocations", body), status, "")
	}
	create(``, 400)
	create(`{`, 400)
	create(`[]`, 400)
	create(`null`, 400)
	create(`{"node_pool":"p"`, 400)
	create(`{"node_pool":1,"image":"i","requested_by":"a"}`, 400)
	create(`{"node_pool":"p","image":"i","requested_by":"a","color":"red"}`, 400)
	create(good+good, 400)
	create(`{"allocation_id":"`+long+`","node_pool":"p","image":"i","requested_by":"a"}`, 400)
	create(`{"allocation_id":"a b","node_pool":"p","image":"i","requested_by":"a"}`, 400)
	create(`{"allocation_id":"a\u0000","node_pool":"p","image":"i","requested_by":"a"}`, 400)
	create(`{"allocation_id":"../a","node_pool":"p","image":"i","requested_by":"a"}`, 400)
	create(`{"node_pool":"","image":"i","requested_by":"a"}`, 400)
	create(`{"node_pool":"`+strings.Repeat(long, 10)+`"}`, 413)
	b.want(b.call(b.control, "GET", "/v1/allocations/a-9", ""), 404, "")
	b.want(b.call(b.control, "GET", "/v1/allocations/"+long, ""), 400, "")
	b.want(b.call(b.control, "GET", "/v1/allocations?limit=0", ""), 400, "")
	b.want(b.call(b.control, "GET", "/v1/allocations?limit=x", ""), 400, "")
	b.want(b.call(b.control, "GET", "/v1/nothing", ""), 404, "")
	b.want(b.call(b.control, "DELETE", "/v1/allocations", ""), 405, "")
	b.want(b.call(b.control, "POST", "/v1/allocations/a-9/cancel", `{"actor":"alice"}`), 404, "")
	b.want(b.call(b.control, "POST", "/v1/allocations/a-9/cancel", `{"actor":""}`), 400, "")
	b.want(b.call(b.control, "POST", "/v1/allocations/a-9/release", `{"actor":"x","actor_type":"king"}`), 400, "")
	b.want(b.call(b.control, "POST", "/v1/nodes/n-9/repair", `{"actor":"x","reason":"y"}`), 404, "")
	b.want(b.call(b.control, "POST", "/v1/nodes/n-9/repair", `{"actor":"x","reason":"y","runtime_verified_absent":true,"evidence":"z"}`), 404, "")
	// Broken propagation headers are ignored, not an error.
	b.want(b.call(b.control, "GET", "/v1/allocations", "", "traceparent", "00-zz-yy-01", "baggage", ";;=,,%zz=1,allocation_id=%zz"), 200, "")
}

func TestCreateTwiceIsCreateOnce(t *testing.T) {
	b := newBench(t, store.Options{})
	b.want(b.call(b.control, "POST", "/v1/allocations", good), 201, "")
	b.want(b.call(b.control, "POST", "/v1/allocations", good), 200, "")
	b.want(b.call(b.control, "POST", "/v1/allocations", strings.Replace(good, `"p"`, `"q"`, 1)), 409, "allocation_exists")
	b.want(b.call(b.control, "POST", "/v1/allocations/a-1/release", `{"actor":"alice"}`), 409, "illegal_move")
	b.want(b.call(b.control, "POST", "/v1/allocations/a-1/cancel", `{"actor":"alice"}`), 202, "")
	b.want(b.call(b.control, "POST", "/v1/allocations/a-1/cancel", `{"actor":"alice"}`), 202, "")
}

func TestListPages(t *testing.T) {
	b := newBench(t, store.Options{})
	for i := range 5 {
		b.want(b.call(b.control, "POST", "/v1/allocations", strings.Replace(good, "a-1", fmt.Sprintf("a-%d", i), 1)), 201, "")
	}
	var got []string
	for after := ""; ; {
		var page rest.Allocations
		if err := json.Unmarshal(b.call(b.control, "GET", "/v1/allocations?limit=2&after="+after, "").Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Allocations {
			got = append(got, a.AllocationID)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if strings.Join(got, " ") != "a-4 a-3 a-2 a-1 a-0" {
		t.Fatal(got)
	}
}

// agentOf registers a node and enrols its agent; the headers are those that the ingress would send.
func (b *bench) agentOf(node string) (headers []string) {
	b.t.Helper()
	var token rest.NodeToken
	w := b.call(b.control, "POST", "/v1/nodes", `{"node_id":"`+node+`","node_pool":"p"}`)
	b.want(w, 201, "")
	_ = json.Unmarshal(w.Body.Bytes(), &token)
	enrol := fmt.Sprintf(`{"token":%q,"boot_id":"b-1","host_name":"h"}`, token.Token)
	w = b.call(b.node, "POST", "/internal/v1/nodes/enroll", enrol)
	b.want(w, 201, "")
	var e rest.Enrolled
	_ = json.Unmarshal(w.Body.Bytes(), &e)
	b.want(b.call(b.node, "POST", "/internal/v1/nodes/enroll", enrol), 401, "enrolment_token") // one time
	return []string{rest.HeaderCertSubject, "CN=" + node, rest.HeaderInstance, e.NodeInstanceID}
}

// claim waits for the node's next task.
func (b *bench) claim(node string, as []string) rest.Task {
	b.t.Helper()
	w := b.call(b.node, "GET", "/internal/v1/nodes/"+node+"/tasks/wait?timeout=5s", "", as...)
	b.want(w, 200, "")
	var k rest.Task
	if err := json.Unmarshal(w.Body.Bytes(), &k); err != nil {
		b.t.Fatal(err)
	}
	return k
}

func quick() workflow.Config {
	c := workflow.DefaultConfig()
	c.Tick, c.RetryWait = 20*time.Millisecond, 10*time.Millisecond
	return c
}

func TestNodeIdentity(t *testing.T) {
	b := newBench(t, store.Options{})
	as := b.agentOf("n-1")
	wait := "/internal/v1/nodes/n-1/tasks/wait?timeout=1ms"
	b.want(b.call(b.node, "GET", wait, ""), 401, "")
	b.want(b.call(b.node, "GET", wait, "", rest.HeaderCertSubject, "O=other"), 401, "")
	b.want(b.call(b.node, "GET", wait, "", rest.HeaderCertSubject, "CN=n-2", rest.HeaderInstance, as[3]), 403, "")
	b.want(b.call(b.node, "GET", wait, "", rest.HeaderCertSubject, "CN=n-1"), 400, "")
	b.want(b.call(b.node, "GET", wait, "", rest.HeaderCertSubject, "CN=n-1", rest.HeaderInstance, "ni-9"), 409, "superseded_instance")
	b.want(b.call(b.node, "GET", wait, "", as...), 204, "")
	b.want(b.call(b.node, "GET", "/internal/v1/nodes/n-1/tasks/wait?timeout=soon", "", as...), 400, "")
	b.want(b.call(b.node, "GET", "/internal/v1/nodes/n-7/tasks/wait", "", rest.HeaderCertSubject, "CN=n-7", rest.HeaderInstance, "ni-1"), 404, "unknown_node")
	b.want(b.call(b.node, "POST", "/internal/v1/nodes/n-1/heartbeat", "", as...), 204, "")
	b.want(b.call(b.node, "POST", "/internal/v1/nodes/enroll", `{"token":"nope","boot_id":"b","host_name":"h"}`), 401, "enrolment_token")
}

func TestOnlyTheCurrentFenceCounts(t *testing.T) {
	b := newBench(t, store.Options{})
	b.work(quick())
	as := b.agentOf("n-1")
	b.want(b.call(b.control, "POST", "/v1/allocations", good), 201, "")
	k := b.claim("n-1", as)
	at := "/internal/v1/nodes/n-1/tasks/" + k.TaskID
	body := func(claim string, fence int64) string { return fmt.Sprintf(`{"claim_id":%q,"fence":%d}`, claim, fence) }
	result := func(ok bool) string {
		return fmt.Sprintf(`{"claim_id":%q,"fence":%d,"ok":%t,"code":"x"}`, k.ClaimID, k.Fence, ok)
	}
	b.want(b.call(b.node, "POST", at+"/renew", body(k.ClaimID, k.Fence), as...), 200, "")
	b.want(b.call(b.node, "POST", at+"/renew", body(k.ClaimID, 0), as...), 400, "")
	b.want(b.call(b.node, "POST", at+"/renew", body(k.ClaimID, k.Fence+1), as...), 409, "wrong_claim")
	b.want(b.call(b.node, "POST", at+"/renew", body("cl-other", k.Fence), as...), 409, "wrong_claim")
	b.want(b.call(b.node, "POST", "/internal/v1/nodes/n-1/tasks/t-none/renew", body("c", 1), as...), 404, "")
	b.want(b.call(b.node, "POST", at+"/result", `{"fence":"high"}`, as...), 400, "")
	b.want(b.call(b.node, "POST", at+"/result", result(true), as...), 204, "")
	b.want(b.call(b.node, "POST", at+"/result", result(true), as...), 204, "") // the same again
	b.want(b.call(b.node, "POST", at+"/result", result(false), as...), 409, "task_over")
	other := b.agentOf("n-2")
	b.want(b.call(b.node, "POST", "/internal/v1/nodes/n-2/tasks/"+k.TaskID+"/result", result(true), other...), 409, "wrong_claim")
}

// A claim carries the identifiers of whoever asked for the allocation, and the task's span in its workflow's trace.
func TestAClaimSaysWhoseItIs(t *testing.T) {
	b := newBench(t, store.Options{})
	b.work(quick())
	as := b.agentOf("n-1")
	request := telemetry.NewTrace()
	b.want(b.call(b.control, "POST", "/v1/allocations", good, "traceparent", request.String(), "baggage", "correlation_id=c-ext-1"), 201, "")
	k := b.claim("n-1", as)
	var w store.Workflow
	if err := b.store.View(t.Context(), "workflow", func(tx *store.Tx) error {
		all, err := tx.Workflows("a-1")
		w = all[0]
		return err
	}); err != nil {
		t.Fatal(err)
	}
	span := telemetry.ParseTraceparent(k.Traceparent)
	if k.CorrelationID != "c-ext-1" || k.AllocationID != "a-1" || k.WorkflowID != w.ID || w.Link.Trace != request.Trace {
		t.Errorf("claimed %+v of workflow %+v", k, w)
	}
	if !span.Valid() || span.Trace != w.Trace.Trace || span.Span == w.Trace.Span {
		t.Errorf("the claim's span is %q, the workflow's %s", k.Traceparent, w.Trace)
	}
}

func FuzzHandlers(f *testing.F) {
	b := newBench(f, store.Options{})
	as := b.agentOf("n-1")
	f.Add("POST", "/v1/allocations", good)
	f.Add("GET", "/v1/allocations?after=%00&state=x", "")
	f.Add("POST", "/v1/allocations/%2e%2e/cancel", `{"actor":"a"}`)
	f.Add("POST", "/internal/v1/nodes/n-1/tasks/t/result", `{"claim_id":"c","fence":9223372036854775807,"ok":true}`)
	f.Add("GET", "/internal/v1/nodes/n-1/tasks/wait?timeout=-1s", "")
	f.Fuzz(func(t *testing.T, method, path, body string) {
		r, err := http.NewRequest(method, "http://x/"+strings.TrimPrefix(path, "/"), strings.NewReader(body))
		if err != nil || strings.Contains(path, "timeout=") && !strings.Contains(path, "timeout=-") {
			return
		}
		r.RemoteAddr = "127.0.0.1:4711"
		for i := 0; i < len(as); i += 2 {
			r.Header.Set(as[i], as[i+1])
		}
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/wait") { // don't wait
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			r = r.WithContext(ctx)
		}
		for _, h := range []http.Handler{b.control, b.node} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code >= 500 && w.Code != http.StatusServiceUnavailable && r.Context().Err() == nil {
				t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
	})
}
