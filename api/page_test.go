package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestThePageIsServed(t *testing.T) {
	h := handler(t, plain)
	for path, want := range map[string]struct {
		status int
		header string
		value  string
	}{
		"/":                   {http.StatusFound, "Location", "/ui/"},
		"/ui/":                {http.StatusOK, "Content-Type", "text/html"},
		"/ui/allocations/a-1": {http.StatusOK, "Content-Security-Policy", "default-src 'none'"},
		"/ui/assets/none.js":  {http.StatusNotFound, "X-Content-Type-Options", "nosniff"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want.status || !strings.HasPrefix(w.Header().Get(want.header), want.value) {
			t.Errorf("%s: %d, %s: %q", path, w.Code, want.header, w.Header().Get(want.header))
		}
	}
}
