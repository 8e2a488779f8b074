package doctest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// texts gives every file that cites documents, by its path from the root.
func texts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"bin", "data", "node_modules", "testdata"}, d.Name()) || path != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".yaml", ".sql", ".md", ".yml"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path)) //nolint:gosec // the repository's own files
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	section  = regexp.MustCompile(`docs/(domain|contract)\.md §([0-9]+(?:\.[0-9]+)?)`)
	decision = regexp.MustCompile(`docs/adr/([0-9]{4})`)
	link     = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
)

// Whatever code or documents cite of documents is there: sections of the contract and the domain, decisions, linked files.
func TestWhatIsCitedIsThere(t *testing.T) {
	all, cited := texts(t), 0
	for path, text := range all {
		for _, m := range section.FindAllStringSubmatch(text, -1) {
			cited++
			if !regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(m[2]) + `[. ]`).MatchString(all["docs/"+m[1]+".md"]) {
				t.Errorf("%s cites %s", path, m[0])
			}
		}
		for _, m := range decision.FindAllStringSubmatch(text, -1) {
			if found, err := filepath.Glob(filepath.Join(root, "docs", "adr", m[1]+"-*.md")); err != nil || len(found) != 1 {
				t.Errorf("%s cites %s: %d files, %v", path, m[0], len(found), err)
			}
		}
		if filepath.Ext(path) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
	}
	if cited < 20 {
		t.Errorf("%d citations of sections: are they written in another way?", cited)
	}
}
