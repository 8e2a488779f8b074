package recovery_test

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/doctest"
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
	want := recovery.Markdown()
	doctest.Section(t, path, begin, end, want, *update)
	if strings.Contains(want, "||") {
		t.Error("an empty cell")
	}
}
