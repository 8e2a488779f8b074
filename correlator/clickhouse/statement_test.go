package clickhouse

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

var update = flag.Bool("update", false, "write the composed statements of testdata/statements anew")

// Every statement as the store gets it stands in testdata/statements: go test ./correlator/clickhouse -run TestComposed -update
func TestComposedStatements(t *testing.T) {
	words, attrs := []string{"soft", "lockup"}, record.Attrs{{Key: "tenant", Value: "blue"}, {Key: "zone", Value: "a"}}
	ids := identity.Keys{{Kind: identity.Allocation, ID: "a-1"}, {Kind: identity.Task, ID: "t-1"}, {Kind: identity.Trace, ID: "4bf9"}}
	choices := map[string]choice{
		"allocations_of_keys":          {Located: true},
		"allocations_of_keys anywhere": {},
		"events_by_keys":               {Located: true},
		"events_of_allocation":         {},
		"events_of_allocation known":   {Located: true},
		"events_by_keys anywhere":      {},
		"locate":                       {},
		"locate named":                 {Named: true},
		"reading allocation":           {Condition: "filter_allocation"},
		"reading keys":                 {Condition: "filter_keys", Located: true},
		"reading keys anywhere":        {Condition: "filter_keys"},
		"reading node":                 {Condition: "filter_node_while", Located: true},
		"reading node anywhere":        {Condition: "filter_node_while"},
		"search anything":              {Condition: "match_any"},
		"search words in body":         choice{Condition: "match_in_body"}.withWords(words, params{}),
		"search words elsewhere":       choice{Condition: "match_elsewhere"}.withWords(words, params{}),
		"search attributes":            choice{Condition: "match_any"}.withAttributes(attrs, params{}).withIdentifiers(ids, params{}),
	}
	composed := map[string]bool{}
	for what, c := range choices {
		name, _, _ := strings.Cut(what, " ")
		composed[name], composed[c.Condition] = true, true
	}
	for _, s := range statements.Templates() { // the others are always the same
		if name := s.Name(); !composed[name] && name != "record_columns" && !strings.HasPrefix(name, "filter_") && !strings.HasPrefix(name, "match_") {
			choices[name] = choice{}
		} else if !composed[name] && name != "record_columns" {
			t.Errorf("no choice composes %s.sql", name)
		}
	}
	golden := map[string]bool{}
	for what, c := range choices {
		name, _, _ := strings.Cut(what, " ")
		got, err := statement(name, c)
		if err != nil {
			t.Error(err)
			continue
		}
		path := filepath.Join("testdata", "statements", strings.ReplaceAll(what, " ", "_")+".sql")
		golden[path] = true
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
			t.Errorf("%s: -golden +composed:\n%s", what, diff)
		}
	}
	paths, err := filepath.Glob("testdata/statements/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if !golden[path] {
			t.Errorf("%s is of no statement", path)
		}
	}
}
