package api_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/correlator/query"
)

// contract validates answers by the description.
type contract struct{ validator.Validator }

func newContract(t *testing.T) contract {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	must(t, err)
	doc, err := libopenapi.NewDocument(text)
	must(t, err)
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, errs := v.ValidateDocument(); !ok {
		for _, e := range errs {
			t.Error(e)
		}
	}
	return contract{v}
}

// contracted checks answers of every test that asks through get or platform.do, whichever it is about.
var contracted struct {
	sync.Mutex
	contract
	requests []describedRequest
}

// conforms validates an answer to a request that the description has; what it has not, nothing is promised of.
func conforms(t *testing.T, method, path string, answer *http.Response, body []byte) {
	t.Helper()
	contracted.Lock()
	defer contracted.Unlock()
	if contracted.requests == nil {
		contracted.contract, contracted.requests = newContract(t), describedRequests(t)
	}
	bare, _, _ := strings.Cut(path, "?")
	for _, one := range contracted.requests {
		if one.method == method && one.describes(bare) {
			contracted.check(t, method, path, answer, body)
			return
		}
	}
}

// describes says whether a path is the request's.
func (one describedRequest) describes(path string) bool {
	have, want := strings.Split(path, "/"), strings.Split(one.path, "/")
	if len(have) != len(want) {
		return false
	}
	for i, part := range want {
		if part != have[i] && (!strings.HasPrefix(part, "{") || have[i] == "") {
			return false
		}
	}
	return true
}

// check validates one answer.
func (c contract) check(t *testing.T, method, path string, answer *http.Response, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, path, nil)
	must(t, err)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if ok, errs := c.ValidateHttpResponse(r, answer); !ok {
		for _, e := range errs {
			t.Errorf("%s %s: %d: %s: %s", method, path, answer.StatusCode, e.Message, e.Reason)
			for _, s := range e.SchemaValidationErrors {
				t.Errorf("    %s %s", s.FieldPath, s.Reason)
			}
		}
	}
}

// examples are paths with what they take, of a platform of twoTenants.
func examples(id string) []string {
	name := strings.TrimPrefix(id, "a-")
	return []string{
		"/allocations", "/allocations?sort=allocation_id&limit=1", "/allocations?state=failed&stuck=false&outcome=attributed&text=certificate&layer=cert",
		"/allocations/" + id, "/allocations/" + id + "/timeline", "/allocations/" + id + "/verdict", "/allocations/" + id + "/reasoning",
		"/allocations/" + id + "/history", "/allocations/" + id + "/states", "/allocations/" + id + "/recovery", "/allocations/" + id + "/raw/none",
		"/allocations/" + id + "/lines", "/allocations/" + id + "/lines?limit=2&from=2026-03-02T10:00:00Z", "/allocations/" + id + "/lines/none", "/allocations/" + id + "/lines/none?of=source", "/allocations/" + id + "/lines/none?of=everything", "/allocations/" + id + "/lines/none?within=0",
		"/rules", "/stuck", "/stuck?layer=cert", "/drift", "/incidents", "/incidents?open=true&victims=2", "/orphans", "/layers", "/sources", "/providers/compare",
		"/events?allocation_id=" + id, "/events?node_id=n-7", "/events?workflow_id=w-" + name, "/events?correlation_id=c-" + name, "/events?node_instance_id=i-blue",
		"/search?text=secret", "/search?severity=error", "/search?attr=node_id%3Dn-7", "/search?attr=allocation_id%3D" + id,
		"/resolve?id=" + id, "/resolve?id=k-" + name, "/resolve?id=n-7", "/lookup/" + id, "/lookup/k-" + name, "/lookup/n-7", "/lookup/r-" + name,
		"/nodes/n-7", "/nodes/n-7/timeline", "/nodes/n-8", "/session",
		"/allocations/" + id + "/verdict?as_of=2026-03-02T10:00:00Z", "/allocations?limit=0", "/lookup/nobody", "/nowhere", "/events", "/search?text=%20",
	}
}

func TestEveryAnswerIsAsDescribed(t *testing.T) {
	c, p := newContract(t), newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`)
	asked := map[string]bool{}
	for _, path := range examples("a-blue") {
		answer, body := p.do(t, "all", http.MethodGet, "/api/v1"+path, "")
		if answer.StatusCode >= 500 && answer.StatusCode != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
		if strings.HasPrefix(path, "/nowhere") {
			continue // it is not described
		}
		c.check(t, http.MethodGet, "/api/v1"+path, answer, body)
		if answer.StatusCode == http.StatusOK {
			asked[path] = true
		}
	}
	for _, path := range []string{"/allocations/a-blue", "/allocations/a-blue/states", "/lookup/k-blue", "/nodes/n-7", "/nodes/n-7/timeline", "/sources", "/layers", "/providers/compare", "/allocations/a-blue/recovery", "/search?text=secret"} {
		if !asked[path] {
			t.Errorf("%s gave no answer", path)
		}
	}
	answer, body := p.do(t, "all", http.MethodPost, "/api/v1/allocations/a-blue/recovery", `{"action":"retry","reason":"test"}`)
	c.check(t, http.MethodPost, "/api/v1/allocations/a-blue/recovery", answer, body)
	if answer.StatusCode != http.StatusOK || !strings.Contains(string(body), `"dry_run":true`) || !strings.Contains(string(body), "/v1/recovery/allocations/a-blue/retry") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	for body, want := range map[string]int{
		`{"action":"retry","reason":"x","dry_run":false}`: http.StatusBadRequest, // without a key
		`{"action":"wipe","reason":"x"}`:                  http.StatusConflict,
		`{"action":"retry","what":1}`:                     http.StatusBadRequest,
		`[`:                                               http.StatusBadRequest,
		`{"reason":"x"}`:                                  http.StatusBadRequest,
	} {
		answer, text := p.do(t, "all", http.MethodPost, "/api/v1/allocations/a-blue/recovery", body)
		if c.check(t, http.MethodPost, "/api/v1/allocations/a-blue/recovery", answer, text); answer.StatusCode != want {
			t.Errorf("%s: %d %s", body, answer.StatusCode, text)
		}
	}
}

// The description names every route, and every route is described.
func TestRoutesAndDescriptionAgree(t *testing.T) {
	text, err := os.ReadFile("openapi.yaml")
	must(t, err)
	var doc struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	must(t, yaml.Unmarshal(text, &doc))
	var described []string
	for path, methods := range doc.Paths {
		for method := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(described)
	routes := servedRoutes(t)
	for _, r := range routes {
		if !slices.Contains(described, r) {
			t.Errorf("%s is served and not described", r)
		}
	}
	for _, d := range described {
		if !slices.Contains(routes, d) {
			t.Errorf("%s is described and not served", d)
		}
	}
}

// servedRoutes lists what a server with a guard serves under /api/v1, but for its own description.
func servedRoutes(t *testing.T) []string {
	t.Helper()
	door, err := guard.New(guard.Config{}, guard.Limits{}, "127.0.0.1:0", slog.New(slog.DiscardHandler), nil)
	must(t, err)
	h := api.New(&query.Service{}, nil, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Handler(http.NotFoundHandler(), door.Install)
	var out []string
	for _, r := range api.Routes(h) {
		path := regexp.MustCompile(`:(\w+)`).ReplaceAllString(r.Path, "{$1}")
		if strings.HasPrefix(path, "/api/v1/") && !strings.HasSuffix(path, "openapi.yaml") && !strings.HasSuffix(path, "*") && r.Method != "echo_route_not_found" {
			out = append(out, r.Method+" "+path)
		}
	}
	return out
}
