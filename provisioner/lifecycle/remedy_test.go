package lifecycle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// Every reason that the sources name says what would satisfy it.
func TestEveryReasonHasARemedy(t *testing.T) {
	seen := 0
	for _, file := range []string{"refusal.go", "remedy.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, ok := spec.Type.(*ast.Ident)
			value, isText := spec.Values[0].(*ast.BasicLit)
			if !ok || !isText || kind.Name != "Reason" {
				return true
			}
			text, _ := strconv.Unquote(value.Value)
			if seen++; text != "" && lifecycle.Reason(text).Remedy() == "" {
				t.Errorf("%s has no remedy", text)
			}
			return true
		})
	}
	if seen < 35 {
		t.Fatalf("only %d reasons found", seen)
	}
}
