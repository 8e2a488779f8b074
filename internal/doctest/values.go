package doctest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Values gives the texts of the constants that a package in a folder declares in one group with a constant, in the order of
// the source. Constants that are no text literal are left out.
func Values(t *testing.T, folder, name string) []string {
	t.Helper()
	entries, err := fs.Glob(os.DirFS(folder), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), folder+"/"+entry, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST {
				if names, values := constants(t, group); slices.Contains(names, name) {
					return values
				}
			}
		}
	}
	t.Fatalf("no constant %s in %s", name, folder)
	return nil
}

// constants lists the names and the text values of one group of constants.
func constants(t *testing.T, group *ast.GenDecl) (names, values []string) {
	t.Helper()
	for _, s := range group.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, n := range spec.Names {
			names = append(names, n.Name)
			if i >= len(spec.Values) {
				continue
			}
			if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
		}
	}
	return names, values
}
