package main

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/internal/bearer"
)

func TestQuestionsShowTheToken(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv(bearer.Variable, "")
	t.Setenv(bearer.FileVariable, "")
	got := ""
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		if r.URL.Path == "/api/v1/lookup/away" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f := func(q question, want string) {
		t.Helper()
		got = "nothing came"
		if err := q.get(context.Background(), theNewest, &struct{}{}); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	f(question{server: server.URL}, "")
	if _, err := bearer.Leave(t.Context(), server.URL, file("left", "flt_left")); err != nil {
		t.Fatal(err)
	}
	f(question{server: server.URL + "/"}, "Bearer flt_left")
	t.Setenv(bearer.Variable, "flt_env")
	f(question{server: server.URL}, "Bearer flt_env")
	t.Setenv(bearer.FileVariable, file("env", "flt_file"))
	f(question{server: server.URL}, "Bearer flt_file")
	f(question{server: server.URL, credentials: credentials{tokenFile: file("flag", "flt_flag\n")}}, "Bearer flt_flag")

	secure := httptest.NewTLSServer(handler)
	defer secure.Close()
	ca := file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	f(question{server: secure.URL, credentials: credentials{caFile: ca}}, "Bearer flt_file")

	away := func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
		return c.Lookup(ctx, "away")
	}
	q := question{server: server.URL}
	if err := q.get(context.Background(), away, &struct{}{}); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirect was followed: %v", err)
	}
	q = question{server: "http://192.0.2.1:8680"}
	if err := q.get(context.Background(), theNewest, &struct{}{}); err == nil || !strings.Contains(err.Error(), "--server: a token is not sent over plain http to 192.0.2.1:8680") {
		t.Error(err)
	}
	q = question{server: server.URL, credentials: credentials{tokenFile: filepath.Join(dir, "none")}}
	if err := q.get(context.Background(), theNewest, &struct{}{}); err == nil || !strings.Contains(err.Error(), "--token-file: open") {
		t.Error(err)
	}
}
