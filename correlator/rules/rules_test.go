package rules_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
)

var update = flag.Bool("update", false, "write docs/rules.md anew")

const page = "../../docs/rules.md"

func TestRulesAreWellFormed(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	openstack, err := profile.Load("openstack")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rules.All() {
		switch {
		case seen[r.ID]:
			t.Errorf("%s stands twice", r.ID)
		case r.Looks == "" || r.Stands == "" || r.Find == nil || r.NextCheck == "" || r.SafeAction == "":
			t.Errorf("%s says too little", r.ID)
		case r.Layer != "" && !p.Knows(r.Layer) && !openstack.Knows(r.Layer):
			t.Errorf("%s names layer %q, which no built-in profile knows", r.ID, r.Layer)
		case r.Layer != "" && !strings.HasPrefix(r.ID, r.Layer+"."):
			t.Errorf("%s does not begin with its layer", r.ID)
		}
		seen[r.ID] = true
	}
}

// The store looks for all words with one expression, in 20 ms for 14,000 lines with 860 words; with 1,074 its automaton does not fit any
// more, and it takes 130 ms.
func TestTheStoreLooksForAllWords(t *testing.T) {
	if n := len(rules.Words()); n > 1000 {
		t.Errorf("%d words: measure what correlator/clickhouse/sql/context.sql takes", n)
	}
}

func TestThePageIsTrue(t *testing.T) {
	want := render()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil { //nolint:gosec // a page for everyone
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Errorf("docs/rules.md is not what the rules say (go test ./correlator/rules -update): %v", err)
	}
}

func render() string {
	var b strings.Builder
	b.WriteString(`# Rules

Generated from the rules themselves. A rule looks at one trouble (something that was owed and did not come) and gives evidence for
one cause. Which evidence wins is decided by these tie-breaks, in this order:

`)
	c := correlator.Describe(rules.All())
	for i, name := range c.Tiebreaks {
		fmt.Fprintf(&b, "%d. %s\n", i+1, name)
	}
	b.WriteString("\n| rule | layer | mechanism | looks for | the order was | next check |\n|---|---|---|---|---|---|\n")
	for _, r := range c.Rules {
		layer, mechanism := r.Layer, r.Mechanism
		if layer == "" {
			layer = "any"
		}
		if mechanism == "" {
			mechanism = "error"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.ID, layer, mechanism, r.Looks, r.Stands, r.NextCheck)
	}
	return b.String()
}
