package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever cannot be answered learns why, and what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	alone(t)
	f := func(want string, handler http.HandlerFunc, args ...string) {
		t.Helper()
		s := httptest.NewServer(handler)
		defer s.Close()
		_, _, err := say(t, append(args, "--server", s.URL)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	problem := func(status int, title string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"title":"` + title + `","status":0,"detail":"\u001b[2Jdetail"}`))
		}
	}
	plainly := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = w.Write([]byte(text)) }
	}
	f("something else than a correlator answers", plainly(200, "<html>Grafana</html>"), "list")
	f("something else than a correlator answers", plainly(404, "404 page not found"), "list")
	f("something else than a correlator answers", problem(404, "Not Found"), "list")
	f("finds no correlator behind it (502 Bad Gateway)", plainly(502, "bad gateway"), "list")
	f("cannot answer now (503): the store does not answer", problem(503, "the store does not answer"), "list")
	f("wants to know who asks (401: missing token: \x1b[2Jdetail). A token is looked for in --token-file, FAULTLINE_TOKEN_FILE, FAULTLINE_TOKEN and the token_file of a context (none is in use)", problem(401, "missing token"), "list")
	f("knows who asks, and does not allow it (403", plainly(403, ""), "list")
	f("and not as a correlator does", plainly(500, "oops"), "list")
	f("invalid parameter", problem(400, "invalid parameter"), "list")
	f("unknown identifier", problem(404, "unknown identifier"), "list")

	if _, _, err := say(t, "list", "--server", "localhost:8680"); err == nil || !strings.Contains(err.Error(), `--server: "localhost:8680" is no http URL, such as http://127.0.0.1:8680`) {
		t.Error(err)
	}
	nobody := httptest.NewServer(nil)
	nobody.Close()
	if _, _, err := say(t, "list", "--server", nobody.URL); err == nil || !strings.Contains(err.Error(), "connection refused; is it running (faultline up), or is another --server meant?") {
		t.Error(err)
	}
	// No password is shown, wherever an address is.
	guarded := strings.Replace(nobody.URL, "http://", "http://kim:secret@", 1)
	if _, _, err := say(t, "list", "--server", guarded); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "kim:xxxxx@") {
		t.Error(err)
	}
	if _, _, err := say(t, "context", "set", "guarded", "--server", guarded); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"context", "list"}, {"context", "list", "--json"}, {"context", "show"}, {"context", "use", "guarded"}} {
		if out, _, err := say(t, args...); err != nil || strings.Contains(out, "secret") {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	if _, _, err := say(t, "list", "--server", secure.URL); err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Error(err)
	}
	unencrypted := httptest.NewServer(http.NotFoundHandler())
	defer unencrypted.Close()
	if _, _, err := say(t, "list", "--server", strings.Replace(unencrypted.URL, "http:", "https:", 1)); err == nil || !strings.Contains(err.Error(), "it speaks http, not https") {
		t.Error(err)
	}
}

// Of a context, the file in which its token was looked for is named.
func TestUnauthorizedNamesTheTokenFile(t *testing.T) {
	alone(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer s.Close()
	token := filepath.Join(t.TempDir(), "token")
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"--server", s.URL}, "and the token_file of context prod (it has none); keep one with: faultline context set prod --server " + s.URL + " --token-file FILE"},
		{[]string{"--token-file", token}, "and " + token + " of context prod (it cannot be read)"},
		{nil, "and " + token + " of context prod;"},
	} {
		if step.args != nil {
			if _, _, err := say(t, append([]string{"context", "set", "prod"}, step.args...)...); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(token, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := say(t, "list"); err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%v, want %q", err, step.want)
		}
	}
}

func TestNearMisses(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{
		"/api/v1/resolve": `{"id":"x","allocations":[]}`, "/api/v1/incidents": givenText(t, "incidents"),
		"/api/v1/allocations": `{"allocations":[{"allocation_id":"a-71","state":null,"since":null,"last_seen":"2026-03-02T09:00:00Z","nodes":["gpu-7"]}]}`,
		"/api/v1/events":      `{"events":[],"next_cursor":null,"as_of":"2026-03-03T08:00:00Z","bounded":false}`,
	})
	for want, args := range map[string][]string{
		"nothing is known of gpu-71; did you mean gpu-17, gpu-7?":         {"verdict", "gpu-71"},
		"nothing is known of a-17; did you mean a-71?":                    {"timeline", "a-17"},
		"nothing is known of zzzzzz":                                      {"verdict", "zzzzzz", "--history"},
		`unknown command "lsit"`:                                          {"lsit"},
		"\tlist\n":                                                        {"lsit", "--wide"},
		"unknown flag: --sate; did you mean --state?":                     {"list", "--sate", "x"},
		"unknown flag: --zzz; faultline list --help lists":                {"list", "--zzz"},
		`there is no "lsit" in faultline context; did you mean list?`:     {"context", "lsit", "--json"},
		`there is no "verdcit" in faultline watch; did you mean verdict?`: {"watch", "verdcit"},
		`there is no "chekc" in faultline profile; did you mean check?`:   {"profile", "chekc"},
	} {
		if args[0] == "verdict" || args[0] == "timeline" {
			args = append(args, "--server", f.url)
		}
		if _, _, err := say(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	if _, notes, err := say(t, "events", "--node", "gpu-71", "--server", f.url); err != nil || !strings.Contains(notes, "nothing is known of gpu-71; did you mean gpu-17, gpu-7?") {
		t.Errorf("%v %s", err, notes)
	}
}
