package problem_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/internal/doctest"
)

var update = flag.Bool("update", false, "write the table of docs/api.md anew")

// Every type leads to its place in the document.
func TestDocumentation(t *testing.T) {
	const file = "docs/api.md"
	if !strings.HasSuffix(problem.Base, file+"#problem-") {
		t.Errorf("%s does not lead into %s", problem.Base, file)
	}
	table := "| type ends in | status | title | what to do |\n|---|---|---|---|\n"
	seen := map[string]bool{}
	for _, k := range problem.Kinds() {
		if seen[k.Name] || k.Title == "" || k.Remedy == "" || k.Status < 400 {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
		_, anchor, _ := strings.Cut(k.Type(), "#")
		table += fmt.Sprintf("| <a id=%q></a>`%s` | %d | %s | %s |\n", anchor, k.Name, k.Status, k.Title, k.Remedy)
	}
	doctest.Section(t, filepath.Join("..", "..", filepath.FromSlash(file)), "<!-- problems: go test ./api/problem -update -->\n", "<!-- end of problems -->\n", table, *update)
}

func TestWrite(t *testing.T) {
	p := problem.New(problem.WrongHost, "x")
	for method, want := range map[string]*problem.Problem{http.MethodGet: &p, http.MethodHead: nil} {
		w := httptest.NewRecorder()
		if err := problem.Write(echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), method, "/", nil), w), p); err != nil {
			t.Fatal(err)
		}
		var got *problem.Problem
		if w.Body.Len() > 0 {
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(want, got); d != "" || w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d %s", method, w.Code, d)
		}
	}
	var found problem.Problem
	if !errors.As(fmt.Errorf("ask: %w", p), &found) || found.Error() != problem.WrongHost.Title+": x" {
		t.Error(found)
	}
}
