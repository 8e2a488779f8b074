package correlator

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

var update = flag.Bool("update", false, "write the table of docs/domain.md anew")

// The words of an answer are those of the contract.
func TestContractNamesEveryAnswer(t *testing.T) {
	said := func(heading string) []string {
		return doctest.Quoted(strings.Join(doctest.Column(t, filepath.Join("..", "docs", "contract.md"), heading, 0), " "))
	}
	if d := cmp.Diff(doctest.Values(t, ".", "Attributed"), said("### The outcomes")); d != "" {
		t.Errorf("outcomes: %s", d)
	}
	if d := cmp.Diff(doctest.Values(t, ".", "High"), said("### The confidence")); d != "" {
		t.Errorf("confidence: %s", d)
	}
	kinds := []string{"gap"} // what did not come is of no record
	for _, name := range append(semconv.EventNames(), "something.else") {
		kinds = append(kinds, (&Event{Record: &record.Record{Signal: record.Log, Name: name}, event: true}).kind())
	}
	kinds = append(kinds, (&Event{Record: &record.Record{Signal: record.Span}}).kind())
	slices.Sort(kinds)
	have := said("### The kinds of timeline entries")
	slices.Sort(have)
	if d := cmp.Diff(slices.Compact(kinds), have); d != "" {
		t.Errorf("kinds of timeline entries: %s", d)
	}
}

// The domain's table of invariants is the code's.
func TestInvariantsAreInTheDomain(t *testing.T) {
	var b strings.Builder
	b.WriteString("| | what must hold | finding |\n|---|---|---|\n")
	for _, i := range Invariants() {
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", i.ID, i.Says, i.Kind)
	}
	const begin, end = "<!-- invariants: go test ./correlator -run TestInvariantsAreInTheDomain -update -->\n", "<!-- end of invariants -->\n"
	doctest.Section(t, filepath.Join("..", "docs", "domain.md"), begin, end, b.String(), *update)
}
