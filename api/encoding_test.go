package api_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator/query"
)

// Answers of some length are compressed for who takes that, short ones and those of others are not.
func TestAnswersAreCompressed(t *testing.T) {
	h := handler(t, plain)
	ask := func(path, takes string) *http.Response {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", takes)
		h.ServeHTTP(w, r)
		return w.Result()
	}
	whole, err := io.ReadAll(ask("/api/v1/rules", "").Body)
	must(t, err)
	small := ask("/api/v1/rules", "gzip, br")
	if small.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(strings.Join(small.Header.Values("Vary"), ","), "Accept-Encoding") {
		t.Errorf("%v", small.Header)
	}
	counted, err := io.ReadAll(small.Body)
	must(t, err)
	unpacked, err := gzip.NewReader(strings.NewReader(string(counted)))
	must(t, err)
	text, err := io.ReadAll(unpacked)
	must(t, err)
	if string(text) != string(whole) || len(counted)*3 > len(whole) {
		t.Errorf("%d bytes of %d, unpacked %d", len(counted), len(whole), len(text))
	}
	for path, takes := range map[string]string{"/api/v1/rules": "br", "/api/v1/resolve?id=k-1": "gzip"} {
		if got := ask(path, takes); got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v", path, got.Header)
		}
	}
}

// A store that is away says when to ask again, and a search that reads too much does not: that would not help.
func TestWaitingIsSaidWhereItHelps(t *testing.T) {
	for path, c := range map[string]struct {
		wrap func(query.Store) query.Store
		want string
	}{
		"/api/v1/allocations/a-1": {func(l query.Store) query.Store { return broken{l} }, "2"},
		"/api/v1/search?text=x":   {func(l query.Store) query.Store { return greedy{l} }, ""},
	} {
		w := httptest.NewRecorder()
		handler(t, c.wrap).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if have := w.Header().Get("Retry-After"); have != c.want {
			t.Errorf("%s: %d, Retry-After %q, want %q", path, w.Code, have, c.want)
		}
	}
}
