// Package doctest compares documents with the code that they describe: Section holds a generated part equal to what it is
// generated from, Column and Values hold a table that people write complete.
package doctest

import (
	"bytes"
	"os"
	"testing"
)

// Section wants the part of a document between two lines to be a text; with update it writes the text there instead. begin and
// end are whole lines, their newlines included.
func Section(t *testing.T, path, begin, end, want string, update bool) {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // a test names a document
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(text, []byte(begin))
	have, tail, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		t.Fatalf("%s has no place for it: want the lines %q and %q", path, begin, end)
	}
	if update {
		if err := os.WriteFile(path, []byte(string(head)+begin+want+end+string(tail)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(have) != want {
		t.Errorf("%s is not what it is generated from; -update writes it", path)
	}
}
