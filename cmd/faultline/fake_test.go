package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/faultline-io/faultline/internal/bearer"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files and docs/cli.md")

// fakeCorrelator answers what a test says, path by path.
type fakeCorrelator struct {
	url     string
	mutex   sync.Mutex
	answers map[string]string // by path
	asked   []string          // paths with their queries
}

func newFake(t *testing.T, answers map[string]string) *fakeCorrelator {
	t.Helper()
	f := &fakeCorrelator{answers: answers}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

func (f *fakeCorrelator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.asked = append(f.asked, r.URL.RequestURI())
	w.Header().Set("Content-Type", "application/json")
	body, ok := f.answers[r.URL.Path]
	switch {
	case r.URL.Path == "/api/v1/resolve" && !ok:
		body = fmt.Sprintf(`{"id":%q,"allocations":[%q]}`, r.URL.Query().Get("id"), r.URL.Query().Get("id"))
	case !ok:
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		body = `{"title":"unknown identifier","status":404,"detail":"nothing is known of this identifier"}`
	}
	_, _ = w.Write([]byte(body))
}

func (f *fakeCorrelator) set(path, body string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.answers[path] = body
}

// say runs a command in this process, and gives what it printed on standard output and on standard error.
func say(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, notes bytes.Buffer
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&notes)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), notes.String(), err
}

// alone leaves nothing of this machine's own settings.
func alone(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, name := range []string{serverVariable, contextVariable, bearer.Variable, bearer.FileVariable, provisionerVariable, "NO_COLOR"} {
		t.Setenv(name, "")
	}
}

// golden compares with a file of testdata/golden; -update writes it.
func golden(t *testing.T, name, have string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("%s (-update writes it): %s", path, diff)
	}
}

// contains wants texts in what was printed.
func contains(t *testing.T, have string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(have, w) {
			t.Errorf("%q is not in:\n%s", w, have)
		}
	}
}
