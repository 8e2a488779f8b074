package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
)

func ask(t *testing.T, files fs.FS, method, path, encoding string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	handler(files).ServeHTTP(w, r)
	return w
}

var built = fstest.MapFS{
	"dist/index.html":           {Data: []byte("<!doctype html>page")},
	"dist/index.html.gz":        {Data: []byte("small page")},
	"dist/assets/index-1.js":    {Data: []byte("script")},
	"dist/assets/index-1.js.gz": {Data: []byte("small")},
	"dist/assets/index-1.js.br": {Data: []byte("least")},
	"dist/placeholder.html":     {Data: []byte("how to build")},
}

func TestHandler(t *testing.T) {
	for _, c := range []struct{ path, encoding, body, caching, encoded string }{
		{"/ui/", "", "<!doctype html>page", "no-cache", ""},
		{"/ui/allocations/a-1", "gzip, deflate", "small page", "no-cache", "gzip"},
		{"/ui/allocations/a.js", "", "<!doctype html>page", "no-cache", ""},
		{"/ui/assets/index-1.js", "gzip, br", "least", "public, max-age=31536000, immutable", "br"},
		{"/ui/assets/index-1.js", "gzip", "small", "public, max-age=31536000, immutable", "gzip"},
		{"/ui/assets/index-1.js", "br;q=0, identity", "script", "public, max-age=31536000, immutable", ""},
		{"/ui/../../web.go", "", "<!doctype html>page", "no-cache", ""},
	} {
		w := ask(t, built, http.MethodGet, c.path, c.encoding)
		if w.Code != http.StatusOK || w.Body.String() != c.body {
			t.Errorf("%s: %d %q", c.path, w.Code, w.Body)
		}
		if got := w.Header().Get("Cache-Control"); got != c.caching {
			t.Errorf("%s: Cache-Control %q, want %q", c.path, got, c.caching)
		}
		if got := w.Header().Get("Content-Encoding"); got != c.encoded {
			t.Errorf("%s: Content-Encoding %q, want %q", c.path, got, c.encoded)
		}
		if got := w.Header().Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("%s: Vary %q", c.path, got)
		}
	}
	if w := ask(t, built, http.MethodGet, "/ui/assets/index-0.js", ""); w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("an asset of an earlier build: %d %q", w.Code, w.Header().Get("Cache-Control"))
	}
	if w := ask(t, built, http.MethodPost, "/ui/", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	if w := ask(t, built, http.MethodHead, "/ui/", "gzip"); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestHandlerTellsBrowsersWhatNotToDo(t *testing.T) {
	for _, path := range []string{"/ui/", "/ui/assets/index-1.js", "/ui/assets/none.js"} {
		h := ask(t, built, http.MethodGet, path, "").Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
				"font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestWithoutABuildThePlaceholderSaysHow(t *testing.T) {
	text, err := fs.ReadFile(dist, placeholder)
	if err != nil {
		t.Fatal(err)
	}
	w := ask(t, fstest.MapFS{placeholder: {Data: text}}, http.MethodGet, "/ui/nodes/n-1", "")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "make page") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s %s", w.Code, w.Header(), w.Body)
	}
}

// TestPage runs the page's own tests, in a real browser.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: the page's tests take a minute")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, "SKIPPED: no "+tool+"; the page is NOT tested")
		}
	}
	if !anyOf(os.Getenv("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome") {
		skip(t, "SKIPPED: no chromium (Debian: apt-get install chromium); the page is NOT tested")
	}
	if _, err := os.Stat("node_modules/.package-lock.json"); err != nil {
		skip(t, "SKIPPED: the page's packages are not installed (make page); the page is NOT tested")
	}
	if out, err := exec.CommandContext(t.Context(), "npm", "test").CombinedOutput(); err != nil {
		t.Fatalf("npm test: %v\n%s", err, out[max(0, len(out)-6000):]) // what failed stands at the end
	}
}

func anyOf(files ...string) bool {
	for _, f := range files {
		if _, err := os.Stat(f); f != "" && err == nil {
			return true
		}
	}
	return false
}

// skip says what is lacking; in continuous integration, which installs it, that is a failure.
func skip(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
