package bearer_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/faultline-io/faultline/internal/bearer"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// alone has a test neither see nor change what the user of this machine has.
func alone(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv(bearer.Variable, "")
	t.Setenv(bearer.FileVariable, "")
	return dir
}

func TestWhichToken(t *testing.T) {
	dir := alone(t)
	const server = "http://127.0.0.1:8680"
	f := func(server, file, want string) {
		t.Helper()
		if got, err := bearer.Token(server, file); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	f(server, "", "")
	forget, err := bearer.Leave(t.Context(), server, write(t, dir, "left", "flt_left\n"))
	if err != nil {
		t.Fatal(err)
	}
	f(server, "", "flt_left")
	f("http://LOCALHOST:8680/", "", "flt_left")
	f("http://127.0.0.1:8681", "", "")
	f("https://127.0.0.1:8680", "", "")
	t.Setenv(bearer.Variable, "flt_env")
	f(server, "", "flt_env")
	t.Setenv(bearer.FileVariable, write(t, dir, "env", "flt_file"))
	f(server, "", "flt_file")
	f(server, write(t, dir, "flag", " flt_flag\n"), "flt_flag")
	if _, err := bearer.Token(server, filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there")
	}
	if _, err := bearer.Token(server, write(t, dir, "bad", "a b")); err == nil || strings.Contains(err.Error(), "a b") {
		t.Error(err)
	}
	t.Setenv(bearer.Variable, "")
	t.Setenv(bearer.FileVariable, "")
	if err := forget(); err != nil {
		t.Fatal(err)
	}
	f(server, "", "")
}

func TestTheListOfServers(t *testing.T) {
	dir := alone(t)
	path := filepath.Join(dir, "state", "faultline", "servers.yaml")
	var all sync.WaitGroup
	for i := range 8 { // several begin at once
		file := write(t, dir, strconv.Itoa(i), "flt_"+strconv.Itoa(i))
		all.Go(func() {
			if _, err := bearer.Leave(t.Context(), "http://127.0.0.1:"+strconv.Itoa(i), file); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 8 {
		if got, err := bearer.Token("http://127.0.0.1:"+strconv.Itoa(i), ""); err != nil || got != "flt_"+strconv.Itoa(i) {
			t.Errorf("%d: %q, %v", i, got, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if err := os.Remove(filepath.Join(dir, "3")); err != nil { // its data is gone
		t.Fatal(err)
	}
	first, err := bearer.Leave(t.Context(), "http://127.0.0.1:9", write(t, dir, "first", "flt_first"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bearer.Leave(t.Context(), "http://127.0.0.1:9", write(t, dir, "second", "flt_second")); err != nil {
		t.Fatal(err)
	}
	if err := first(); err != nil {
		t.Fatal(err)
	}
	if got, _ := bearer.Token("http://127.0.0.1:9", ""); got != "flt_second" {
		t.Errorf("the one that ended took the other's along: %q", got)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "127.0.0.1:3") || strings.Contains(string(text), "flt_") {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.WriteFile(path, []byte("\t"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := bearer.Token("http://127.0.0.1:9", ""); err != nil || got != "" {
		t.Error(got, err)
	}
	if _, err := bearer.Leave(t.Context(), "http://127.0.0.1:9", filepath.Join(dir, "second")); err != nil {
		t.Error(err)
	}
	write(t, dir, "file", "")
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "file"))
	if _, err := bearer.Leave(t.Context(), "http://127.0.0.1:9", filepath.Join(dir, "second")); err == nil {
		t.Error("it cannot be written")
	}
}

func TestATokenIsNotSentInTheClear(t *testing.T) {
	for server, safe := range map[string]bool{
		"http://127.0.0.1:8680": true, "http://localhost": true, "http://[::1]:1": true, "https://faultline.example.com": true,
		"http://faultline.example.com": false, "http://10.0.0.1:8680": false, "http://localhost.example.com": false, "http://0.0.0.0:1": false, "ftp://127.0.0.1": false,
	} {
		r, err := http.NewRequest(http.MethodGet, server, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = bearer.Authorize(r, "flt_x")
		if got := r.Header.Get("Authorization"); (err == nil) != safe || (got == "Bearer flt_x") != safe {
			t.Errorf("%s: %q, %v", server, got, err)
		}
		if err := bearer.Authorize(r, ""); err != nil {
			t.Error(err)
		}
	}
}
