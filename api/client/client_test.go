package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerated fails where openapi.yaml says something else than the client: `go generate ./api/client` makes it anew.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: building the generator takes a while; the client is NOT compared with openapi.yaml")
	}
	for name, config := range map[string]string{"models.gen.go": "models.yaml", "client.gen.go": "requests.yaml"} {
		made := filepath.Join(t.TempDir(), name)
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "tool", "-modfile=../../tools/oapicodegen/go.mod", "oapi-codegen", "-config", config, "-o", made, "../openapi.yaml")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what openapi.yaml says: go generate ./api/client", name)
		}
	}
}

func TestAnIdentifierIsOnePartOfThePath(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.EscapedPath()
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"type":"unknown-identifier","title":"Unknown identifier","status":404,"detail":"no record leads to it"}`))
	}))
	defer server.Close()
	c, err := NewClientWithResponses(server.URL + "/behind/a/proxy/")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.GetVerdictWithResponse(t.Context(), "../a/b?c#d %", &GetVerdictParams{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(asked, "/behind/a/proxy/api/v1/allocations/") || strings.Count(asked, "/") != 8 {
		t.Errorf("asked for %s", asked)
	}
	if p := answer.ApplicationProblemJSONDefault; p == nil || p.Detail == nil || *p.Detail != "no record leads to it" {
		t.Errorf("%+v", answer)
	}
}
