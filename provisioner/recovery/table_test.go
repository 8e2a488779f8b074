package recovery_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
)

var update = flag.Bool("update", false, "write the table of docs/provisioner.md anew")

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range recovery.Actions() {
		if seen[a.Name] || seen[a.Audit] || a.Does == "" || a.When == "" || a.Role == 0 || len(a.Guards) == 0 || a.Guards[0].Name != "reason_given" {
			t.Errorf("%+v", a)
		}
		seen[a.Name], seen[a.Audit] = true, true
		for _, g := range a.Guards {
			if g.SatisfiedBy() == "" || g.Refusal.Remedy() == "" {
				t.Errorf("%s: guard %s says nothing of what would satisfy it", a.Name, g.Name)
			}
		}
		for _, m := range a.Moves {
			legal := true
			switch m.Of {
			case recovery.Allocations:
				legal = slices.ContainsFunc(lifecycle.AllocationMoves(), func(l lifecycle.AllocationMove) bool { return l.From == m.From && l.To == m.To })
			case recovery.Nodes:
				legal = slices.ContainsFunc(lifecycle.NodeMoves(), func(l lifecycle.NodeMove) bool { return l.From == m.From && l.To == m.To })
			}
			if !legal {
				t.Errorf("%s: lifecycle has no move of %s from %s to %s", a.Name, m.Of, m.From, m.To)
			}
		}
	}
}

const (
	begin = "<!-- recovery actions: go test ./provisioner/recovery -run TestDocumentation -update -->\n"
	end   = "<!-- end of recovery actions -->\n"
)

func TestDocumentation(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "provisioner.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := bytes.Cut(text, []byte(begin))
	have, tail, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		t.Fatalf("%s has no place for the table of actions", path)
	}
	want := recovery.Markdown()
	if *update {
		if err := os.WriteFile(path, []byte(string(head)+begin+want+end+string(tail)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(have) != want {
		t.Errorf("%s is not what the table says; -update writes it", path)
	}
	if strings.Contains(want, "||") {
		t.Error("an empty cell")
	}
}
