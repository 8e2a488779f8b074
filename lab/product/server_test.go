package product

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/faultline-io/faultline/internal/bearer"
)

func TestTheTokenOfAProductIsFound(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv(bearer.Variable, "")
	t.Setenv(bearer.FileVariable, "")
	got := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("flt_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bearer.Leave(t.Context(), server.URL, token); err != nil {
		t.Fatal(err)
	}
	if err := Server(server.URL).Get(t.Context(), "/", &struct{}{}); err != nil || got != "Bearer flt_x" {
		t.Errorf("%q, %v", got, err)
	}
	if err := Server("http://127.0.0.1:1").Get(t.Context(), "/", &struct{}{}); err == nil {
		t.Error("nobody listens there")
	}
}
