package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
)

// Whoever may see one tenant's allocations learns nothing of another's, whatever is asked.
func TestTenantsSeeTheirOwn(t *testing.T) {
	p := newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`, "a-red", "a-none", `"tenant":"blue"`, `"tenant":"red"`)
	ofOthers := map[string][]string{
		"blue":    {"a-red", "w-red", "k-red", "r-red", "c-red", "red secret", "a-none", "nobody's secret"},
		"red":     {"a-blue", "w-blue", "k-blue", "r-blue", "c-blue", "a-none", "nobody's secret"},
		"nothing": {"a-blue", "a-red", "w-blue", "w-red", "red secret", "a-none", "n-8"},
	}
	for as, hidden := range ofOthers {
		for _, of := range []string{"a-blue", "a-red", "a-none"} {
			for _, path := range examples(of) {
				answer, body := p.do(t, as, http.MethodGet, "/api/v1"+path, "")
				if answer.StatusCode >= 500 && answer.StatusCode != http.StatusNotImplemented {
					t.Errorf("%s asks %s: %d", as, path, answer.StatusCode)
				}
				for _, word := range hidden {
					if strings.Contains(string(body), word) && !strings.Contains(path, word) {
						t.Errorf("%s asks %s and is told of %s: %.300s", as, path, word, body)
					}
				}
				own := of == "a-"+as
				if !own && strings.Contains(path, of) && strings.HasPrefix(path, "/allocations/") && answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusBadRequest {
					t.Errorf("%s asks %s: %d %.200s", as, path, answer.StatusCode, body)
				}
				if own && path == "/allocations/"+of && answer.StatusCode != http.StatusOK {
					t.Errorf("%s asks %s: %d %.200s", as, path, answer.StatusCode, body)
				}
			}
		}
		for _, of := range []string{"a-blue", "a-red"} {
			answer, body := p.do(t, as, http.MethodPost, "/api/v1/allocations/"+of+"/recovery", `{"action":"retry","reason":"x"}`)
			if own := of == "a-"+as; own != (answer.StatusCode == http.StatusOK) {
				t.Errorf("%s recovers %s: %d %s", as, of, answer.StatusCode, body)
			}
			answer, _ = p.do(t, as, http.MethodGet, "/api/v1/allocations/"+of+"/verdict", "")
			if tag := answer.Header.Get("ETag"); of != "a-"+as && tag != "" {
				t.Errorf("%s is given a tag of %s", as, of)
			}
		}
	}
	// A record of another's is none of one's own allocation's, whatever its reference is.
	own := map[string]bool{}
	for _, ref := range p.found(t, "/allocations/a-blue/timeline", "ref") {
		own[ref] = true
	}
	for _, ref := range p.found(t, "/allocations/a-red/timeline", "ref") {
		for _, path := range []string{"/allocations/a-blue/raw/" + ref, "/allocations/a-blue/lines/" + ref, "/allocations/a-red/raw/" + ref, "/allocations/a-red/lines/" + ref} {
			if answer, body := p.do(t, "blue", http.MethodGet, "/api/v1"+path, ""); answer.StatusCode != http.StatusNotFound && (!own[ref] || !strings.Contains(path, "a-blue")) {
				t.Errorf("blue asks %s: %d %.300s", path, answer.StatusCode, body)
			}
		}
	}
	// What is nobody's may speak of anybody: it is shown where a verdict cites it, and not whole. Nor is it told who sends anything.
	cited := asked[api.Timeline](t, p, "/allocations/a-blue/timeline").Timeline
	i := slices.IndexFunc(cited, func(e correlator.Entry) bool { return strings.Contains(e.Summary, "client certificate of CN=n-7") })
	if i < 0 {
		t.Fatal("the proxy's record is not cited")
	}
	for as, want := range map[string]int{"all": http.StatusOK, "blue": http.StatusNotFound} {
		if answer, body := p.do(t, as, http.MethodGet, "/api/v1/allocations/a-blue/raw/"+cited[i].Ref, ""); answer.StatusCode != want {
			t.Errorf("%s asks for what is nobody's: %d %.300s", as, answer.StatusCode, body)
		}
	}
	if _, body := p.do(t, "blue", http.MethodGet, "/api/v1/layers", ""); strings.Contains(string(body), "ingress-proxy") {
		t.Errorf("blue is told who sends: %s", body)
	}
	// What is the caller's own is there.
	_, body := p.do(t, "red", http.MethodGet, "/api/v1/events?node_id=n-7", "")
	if !strings.Contains(string(body), "red secret") {
		t.Errorf("its own records are hidden: %s", body)
	}
	_, body = p.do(t, "red", http.MethodGet, "/api/v1/nodes/n-7", "")
	if !strings.Contains(string(body), "a-red") {
		t.Errorf("its own node is hidden: %s", body)
	}
	// Without a token nobody learns anything, also not whether something exists.
	for _, path := range examples("a-blue") {
		answer, body := p.do(t, "", http.MethodGet, "/api/v1"+path, "")
		if answer.StatusCode != http.StatusUnauthorized || strings.Contains(string(body), "a-blue") {
			t.Errorf("nobody asks %s: %d %s", path, answer.StatusCode, body)
		}
	}
}

// What is described and tried by no example would be tried as no other tenant. Streams are tried by TestAStreamGoesOnWhereItEnded.
func TestExamplesReachEveryPath(t *testing.T) {
	for _, one := range describedRequests(t) {
		reached := one.method != http.MethodGet || strings.HasSuffix(one.path, "}/events") || one.path == "/api/v1/incidents/events"
		for _, path := range examples("a-blue") {
			bare, _, _ := strings.Cut(path, "?")
			reached = reached || one.describes("/api/v1"+bare)
		}
		if !reached {
			t.Errorf("no example asks %s %s", one.method, one.path)
		}
	}
}
