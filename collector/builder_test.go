package collector

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

type manifest struct {
	Receivers, Processors, Exporters, Extensions, Providers []module
}

type module struct{ Gomod, Import string }

// builder.yaml names what components.go and settings.go import, in the versions of go.mod.
func TestBuilderManifest(t *testing.T) {
	text, err := os.ReadFile("builder.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	var listed []string
	versions := map[string]string{}
	for _, group := range [][]module{m.Receivers, m.Processors, m.Exporters, m.Extensions, m.Providers} {
		for _, c := range group {
			path, version, _ := strings.Cut(c.Gomod, " ")
			if c.Import != "" {
				path = c.Import
			} else {
				versions[path] = version
			}
			listed = append(listed, path)
		}
	}
	var imported []string
	for _, file := range []string{"components.go", "settings.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			last := path[strings.LastIndex(path, "/")+1:]
			if last != "receiver" && last != "processor" && last != "exporter" && last != "extension" &&
				(slices.ContainsFunc([]string{"receiver", "processor", "exporter", "extension", "provider", "storage"}, func(s string) bool {
					return strings.HasSuffix(last, s)
				}) || strings.Contains(path, "/storage/")) {
				imported = append(imported, path)
			}
		}
	}
	slices.Sort(listed)
	slices.Sort(imported)
	if diff := cmp.Diff(imported, listed); diff != "" {
		t.Errorf("-imported +listed:\n%s", diff)
	}
	for path, version := range versions {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", path).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", path, err)
		}
		if got := strings.TrimSpace(string(out)); got != version {
			t.Errorf("%s is %s in builder.yaml and %s in go.mod", path, version, got)
		}
	}
}
