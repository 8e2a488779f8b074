package doctest_test

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/internal/semconv"
)

var update = flag.Bool("update", false, "write the tables of docs/domain.md anew")

var (
	contract = filepath.Join("..", "..", "docs", "contract.md")
	domain   = filepath.Join("..", "..", "docs", "domain.md")
	names    = filepath.Join("..", "semconv")
)

// The contract's table of lifecycle events has a row for each event, in order, and every attribute and state that the code
// has a name for; it names no other attribute.
func TestLifecycleEvents(t *testing.T) {
	column := func(n int) []string {
		return doctest.Quoted(strings.Join(doctest.Column(t, contract, "## 3. Lifecycle events", n), " "))
	}
	if d := cmp.Diff(semconv.EventNames(), column(0)); d != "" {
		t.Errorf("events: %s", d)
	}
	attributes := slices.DeleteFunc(doctest.Values(t, names, "SubjectKind"), func(s string) bool { return s == semconv.Layer }) // of any record
	carried := column(1)
	for _, a := range attributes {
		if !slices.Contains(carried, a) {
			t.Errorf("no event carries %s", a)
		}
	}
	known := slices.Concat(attributes, doctest.Values(t, names, "TaskID"))
	for _, a := range carried {
		if !slices.Contains(known, a) {
			t.Errorf("%s is no attribute that internal/semconv names", a)
		}
	}
	told := column(2)
	for _, state := range slices.Concat(doctest.Values(t, names, "Requested"), doctest.Values(t, names, "Enrolling")) {
		if !slices.Contains(told, state) {
			t.Errorf("no event leads to %s", state)
		}
	}
}

// The table of legal moves between allocation states is the code's.
func TestAllocationMoves(t *testing.T) {
	var b strings.Builder
	b.WriteString("| from | legal moves |\n|---|---|\n")
	for _, from := range append([]string{""}, doctest.Values(t, names, "Requested")...) {
		to := strings.Join(semconv.AllocationMoves[from], " ")
		switch {
		case from == "":
			from = "(none)"
		case to == "":
			to = "(final)"
		}
		b.WriteString("| " + from + " | " + to + " |\n")
	}
	const begin, end = "<!-- moves: go test ./internal/doctest -run TestAllocationMoves -update -->\n", "<!-- end of moves -->\n"
	doctest.Section(t, domain, begin, end, b.String(), *update)
}
