package profile

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/internal/identity"
)

var update = flag.Bool("update", false, "write the tables of docs/contract.md anew")

// What the contract says of identifiers, layers and profiles is what the code knows of them.
func TestContract(t *testing.T) {
	for name, want := range map[string]string{"kinds": kindTable(), "via": viaList(), "catalog": catalogTable(t), "profiles": profileTable(t)} {
		begin := "<!-- " + name + ": go test ./internal/profile -run TestContract -update -->\n"
		doctest.Section(t, filepath.Join("..", "..", "docs", "contract.md"), begin, "<!-- end of "+name+" -->\n", want, *update)
	}
}

// kindTable lists the kinds of identifiers in the order in which they are declared.
func kindTable() string {
	var b strings.Builder
	b.WriteString("| kind | key | read as well | strength | belongs to one allocation |\n|---|---|---|---|---|\n")
	spellings, strength := builtinAttributes(), 0
	for k := identity.Allocation; k.Attribute() != ""; k++ {
		var others []string
		for _, name := range slices.Sorted(maps.Keys(spellings)) {
			if spellings[name] == k && name != k.Attribute() {
				others = append(others, code(name))
			}
		}
		rank, belongs := "", ""
		if k.Immovable() {
			strength++
			rank, belongs = fmt.Sprint(strength), "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", k, code(k.Attribute()), strings.Join(others, " "), rank, belongs)
	}
	return b.String()
}

// viaList lists the words for how a record was resolved, the strongest first.
func viaList() string {
	words := []string{code(string(identity.Explicit))}
	for k := identity.Workflow; k <= identity.Node; k++ {
		words = append(words, code(k.String()))
	}
	return strings.Join(append(words, code(string(identity.Context))), " ") + ".\n"
}

// catalogTable lists, layer by layer, what gives a record that layer in the default profile.
func catalogTable(t *testing.T) string {
	p := loaded(t, Default)
	var b strings.Builder
	b.WriteString("| layer | `service.name`, or what else says so |\n|---|---|\n")
	for _, layer := range p.Layers {
		var names, rest []string
		for _, c := range p.catalog {
			if c.layer != layer {
				continue
			}
			for _, s := range c.services {
				if s = code(s); !slices.Contains(names, s) {
					names = append(names, s)
				}
			}
			if c.scope != "" {
				rest = append(rest, "scope "+code(c.scope))
			}
			for _, k := range slices.Sorted(maps.Keys(c.attributes)) {
				rest = append(rest, "attribute "+code(k+"="+c.attributes[k]))
			}
		}
		slices.Sort(names)
		cell := strings.Join(names, " ")
		if len(rest) > 0 {
			cell += "; " + strings.Join(rest, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", layer, cell)
	}
	return b.String()
}

// profileTable lists the built-in profiles.
func profileTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| built-in profile | layers | node_sharing | first_failure |\n|---|---|---|---|\n")
	for _, name := range Names() {
		p := loaded(t, name)
		sharing, first := "exclusive", "no"
		if p.SharedNodes {
			sharing = "shared"
		}
		if p.FirstFailure() {
			first = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.Join(p.Layers, " "), sharing, first)
	}
	return b.String()
}

func loaded(t *testing.T, name string) *Profile {
	t.Helper()
	p, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func code(name string) string { return "`" + name + "`" }
