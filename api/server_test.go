package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/story"
)

const tale = `
10:00:00.3  provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:00.4  provisioner node.assigned allocation_id=a-1 node_id=n-7
10:00:00.5  provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:00.6  provisioner task.state task_id=k-1 workflow_id=w-1 node_id=n-7 type=prepare to=queued
10:00:03    ingress-proxy error tls.client.subject=CN=n-7 | client certificate of CN=n-7 refused: x509: certificate has expired or is not yet valid
10:01:00.6  provisioner task.state task_id=k-1 workflow_id=w-1 node_id=n-7 type=prepare to=expired
10:01:00.9  provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`

func handler(t *testing.T, wrap func(query.Store) query.Store) http.Handler {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	records, err := story.Parse(tale)
	if err != nil {
		t.Fatal(err)
	}
	l := wrap(memory.New(p, records))
	ops := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	return api.New(&query.Service{Store: l, Profile: p, Rules: rules.All()}, p, rules.All(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Handler(ops, unasked(t).Install)
}

func plain(l query.Store) query.Store { return l }

func get(t *testing.T, h http.Handler, path string) (int, string, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	var body map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &body)
	conforms(t, http.MethodGet, path, w.Result(), w.Body.Bytes())
	return w.Code, w.Header().Get("Content-Type"), body
}

func keysOf(m map[string]any) string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestAnswers(t *testing.T) {
	h := handler(t, plain)
	for path, want := range map[string]string{
		"/api/v1/allocations":                                        "allocations next_cursor",
		"/api/v1/allocations?state=failed":                           "allocations next_cursor",
		"/api/v1/allocations/a-1":                                    "allocation_id since state timeline verdict",
		"/api/v1/allocations/a-1/timeline":                           "allocation_id since state timeline",
		"/api/v1/allocations/a-1/verdict":                            "allocation_id since state verdict",
		"/api/v1/resolve?id=k-1":                                     "allocations id",
		"/api/v1/allocations/a-1/verdict?as_of=2026-03-02T10:00:02Z": "allocation_id since state verdict",
	} {
		code, kind, body := get(t, h, path)
		if code != http.StatusOK || !strings.HasPrefix(kind, "application/json") || keysOf(body) != want {
			t.Errorf("%s: %d %s %s, want %s", path, code, kind, keysOf(body), want)
		}
	}
	_, _, body := get(t, h, "/api/v1/allocations/a-1/verdict")
	verdict := body["verdict"].(map[string]any)
	if keysOf(verdict) != "as_of candidates drift explanation faults findings missing outcome rules_version" || verdict["outcome"] != "attributed" {
		t.Errorf("verdict: %v", verdict)
	}
	fault := verdict["faults"].([]any)[0].(map[string]any)
	if keysOf(fault) != "cleared_at confidence contradicting evidence layer mechanism next_check onset owner rule safe_action summary symptoms" || fault["layer"] != "cert" {
		t.Errorf("fault: %v", fault)
	}
	if code, _, _ := get(t, h, "/readyz"); code != http.StatusTeapot {
		t.Errorf("operational pages are not passed on: %d", code)
	}
}

func TestProblems(t *testing.T) {
	h := handler(t, plain)
	for path, want := range map[string]int{
		"/api/v1/allocations/nobody/verdict":                 http.StatusNotFound,
		"/api/v1/resolve?id=nobody":                          http.StatusNotFound,
		"/api/v1/resolve":                                    http.StatusBadRequest,
		"/api/v1/allocations?limit=many":                     http.StatusBadRequest,
		"/api/v1/allocations?limit=0":                        http.StatusBadRequest,
		"/api/v1/allocations/a-1?as_of=soon":                 http.StatusBadRequest,
		"/api/v1/allocations/a-1?as_of=0001-01-01T00:00:00Z": http.StatusBadRequest,
		"/api/v1/allocations/" + strings.Repeat("x", 600):    http.StatusBadRequest,
		"/api/v1/allocations/a%00b":                          http.StatusBadRequest,
		"/api/v2":                                            http.StatusNotFound,
	} {
		code, kind, body := get(t, h, path)
		if code != want || kind != "application/problem+json" || body["title"] == "" || body["status"] != float64(want) {
			t.Errorf("%.60s: %d %s %v, want %d", path, code, kind, body, want)
		}
	}
}

// broken is a store that does not answer.
type broken struct{ query.Store }

func (broken) RecordSet(context.Context, string, int64) (*query.RecordSet, error) {
	return nil, errors.New("dial tcp 127.0.0.1:9123: connection refused")
}

func TestAStoreThatIsAwaySaysSoAndNothingElse(t *testing.T) {
	code, _, body := get(t, handler(t, func(l query.Store) query.Store { return broken{l} }), "/api/v1/allocations/a-1")
	if code != http.StatusServiceUnavailable || strings.Contains(body["detail"].(string), "9123") {
		t.Errorf("%d %v", code, body)
	}
}

func description(t *testing.T, h http.Handler) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.yaml", nil))
	return w.Body.Bytes()
}
