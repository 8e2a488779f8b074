package doctest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Column gives the cells of one column (from 0) of the first table after a line, without the table's head.
func Column(t *testing.T, path, line string, column int) []string {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // a test names a document
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), line+"\n")
	if !ok {
		t.Fatalf("%s has no line %q", path, line)
	}
	var cells []string
	rows := 0
	for row := range strings.Lines(rest) {
		if !strings.HasPrefix(row, "|") {
			if rows > 0 {
				break
			}
			continue
		}
		if rows++; rows <= 2 {
			continue // the head and the line below it
		}
		parts := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		if column >= len(parts) {
			t.Fatalf("%s: the row %q has no column %d", path, row, column)
		}
		cells = append(cells, strings.TrimSpace(parts[column]))
	}
	if len(cells) == 0 {
		t.Fatalf("%s has no table after the line %q", path, line)
	}
	return cells
}

var quoted = regexp.MustCompile("`([^`]+)`")

// Quoted gives the words of a text that stand between back quotes, in order.
func Quoted(text string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}
