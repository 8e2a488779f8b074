package table_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/table"
)

var update = flag.Bool("update", false, "write golden files")

func sample() *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "ID"}, {Name: "STATE", Rank: 1}, {Name: "FOR", Right: true}, {Name: "TEAM", Rank: 2}, {Name: "DETAIL", Wide: true}, {Name: "WHAT", Free: true},
	}}
	plain := func(texts ...string) {
		var row []table.Cell
		for _, s := range texts {
			row = append(row, table.Cell{Text: s})
		}
		t.Add(row...)
	}
	plain("a-1", "provisioning", "5m", "node agent", "d", "task k-1 (prepare) is queued and not claimed, though the node's agent is alive and polls for others")
	t.Across("… 27 minutes without a word …")
	plain("割り当て-2", "active", "2h10m", "基盤チーム", "", "証明書の有効期限が切れています。証明書を更新してから、ノードのエージェントを再起動してください")
	plain("a-3", "", "3d", "", "e\u0301e\u0301", "\x1b[2J\x1b]0;title\x07 rm -rf \u202egnp.exe \xff\ttab\nline")
	return t
}

func TestWidths(t *testing.T) {
	for _, f := range []table.Format{{}, {Width: 60}, {Width: 100}, {Width: 200}, {Width: 30}, {Width: 60, Wide: true}, {Width: 80, Colour: true}} {
		name := fmt.Sprintf("width-%d", f.Width)
		if f.Wide {
			name += "-wide"
		}
		if f.Colour {
			name += "-colour"
		}
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := sample().Write(&b, f); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.String())
			for line := range strings.Lines(b.String()) {
				if w := table.Width(strings.TrimRight(line, "\n")); f.Width >= 60 && !f.Wide && !f.Colour && w > f.Width {
					t.Errorf("%d cells: %s", w, line)
				}
			}
		})
	}
}

func golden(t *testing.T, name, have string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(have), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("%s (-update writes it): %s", path, diff)
	}
}

// A table that goes on keeps its columns where they were and does not say its heading again; an empty one says nothing.
func TestPages(t *testing.T) {
	var b strings.Builder
	page := &table.Table{Columns: []table.Column{{Name: "ID"}, {Name: "WHAT"}}}
	for _, id := range []string{"", "long-identifier", "b"} {
		if id != "" {
			page.Add(table.Cell{Text: id}, table.Cell{Text: "x"})
		}
		if err := page.Write(&b, table.Format{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "ID               WHAT\nlong-identifier  x\nb                x\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

// Whatever stands in a record, nothing of it commands a terminal, no line is broken by it, and no cell is wider than said.
func TestNothingCommandsATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		clean := table.Clean(text)
		if i := strings.IndexFunc(clean, unicode.IsControl); i >= 0 {
			t.Fatalf("%q keeps a control character: %q", text, clean)
		}
		if table.Clean(clean) != clean {
			t.Fatalf("%q is cleaned twice", clean)
		}
		width := rapid.IntRange(1, 40).Draw(t, "width")
		if w := table.Width(table.Clip(clean, width)); w > width {
			t.Fatalf("%q clipped to %d is %d wide", clean, width, w)
		}
	})
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain 証明 é": "plain 証明 é", "a\tb\r\nc": "a b  c", "\x1b[31mred\x1b[0m": `\x1b[31mred\x1b[0m`, "\u009b31m": `\u009b31m`, "\x7f\r": `\x7f\x0d`,
		"\u202egnp": `\u202egnp`, "\xff\xfe": `\xff\xfe`, "👩\u200d🚀": "👩\u200d🚀", "\u2028": `\u2028`, "\U000e0001": `\U000e0001`, "\ufffd": "\ufffd",
	} {
		if got := table.Clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := table.CleanLines("a\n\x1bb"); got != "a\n\\x1bb" {
		t.Errorf("%q", got)
	}
}

func TestSafe(t *testing.T) {
	var b strings.Builder
	if n, err := fmt.Fprintf(table.Safe(&b), "one\x1b[2J\ntwo\n"); n != 12 || err != nil || b.String() != "one\\x1b[2J\ntwo\n" {
		t.Errorf("%d %v %q", n, err, b.String())
	}
}

func TestWrap(t *testing.T) {
	long := "the certificate of n-7 has expired; see https://runbooks.example.com/certificates/renewal#expired for what to do"
	if diff := cmp.Diff([]string{"the certificate of n-7", "has expired; see", "https://runbooks.example.com/certificates/renewal#expired", "for what to do"}, table.Wrap(long, 24)); diff != "" {
		t.Error(diff)
	}
	if got := table.Wrap(long, 0); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "0s", 45 * time.Second: "45s", 5*time.Minute + 59*time.Second: "5m", 2*time.Hour + 10*time.Minute: "2h10m", 2 * time.Hour: "2h",
		26 * time.Hour: "1d2h", 72 * time.Hour: "3d", 1000 * time.Hour: "41d",
	} {
		if got := table.Age(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
