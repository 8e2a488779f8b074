package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
)

// The tables keep every kind of identifier where identity's table says, and people find each under its attribute's name in `records`.
func TestKindsOfIdentifiers(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`_u?id$`)
	row := map[string]string{"key": "'0123456789ab'", "signal": "'log'", "ingested_time": "now64(9)"}
	var listed []string
	for kind := range identity.Kinds() {
		if name := id.ReplaceAllString(kind.Attribute(), ""); name != kind.String() {
			t.Errorf("%s is called %s: the store puts attributes together again by the kind's name, %s", kind.Attribute(), kind, name)
		}
		if kind.Storage() == identity.InList {
			listed = append(listed, fmt.Sprintf("'%s:of %s'", kind, kind))
		} else {
			row[kind.Attribute()] = fmt.Sprintf("'of %s'", kind)
		}
	}
	row["keys_rest"] = "[" + strings.Join(listed, ", ") + "]"
	var columns, values []string
	for column, value := range row {
		columns, values = append(columns, column), append(values, value)
	}
	exec(t, conn, "INSERT INTO events ("+strings.Join(columns, ", ")+") SELECT "+strings.Join(values, ", "))
	for kind := range identity.Kinds() {
		var id string
		var keys []string
		if err := conn.QueryRow(t.Context(), "SELECT "+kind.Attribute()+", keys FROM records").Scan(&id, &keys); err != nil {
			t.Errorf("records has no %s: %v; a migration has to make the view anew", kind.Attribute(), err)
			continue
		}
		if want := "of " + kind.String(); id != want || !slices.Contains(keys, kind.String()+":"+want) {
			t.Errorf("%s is %q, among keys %q", kind.Attribute(), id, keys)
		}
	}
}

// What the feed of key_locations leaves out is bound to an allocation by links. A kind that moves, left out, would not be found.
func TestKindsThatAreNotLocatedAreLinked(t *testing.T) {
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range all {
		list := regexp.MustCompile(`- 1\) NOT IN \(([^)]*)\)`).FindStringSubmatch(m.SQL)
		if !strings.Contains(m.SQL, "TO key_locations AS") || list == nil {
			continue
		}
		found++
		for name := range strings.SplitSeq(list[1], ", ") {
			if kind := identity.ParseKind(strings.Trim(name, "'")); !kind.Immovable() {
				t.Errorf("%s: %s is not bound to one allocation for ever", m.Name, name)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d feeds of key_locations leave out kinds", found)
	}
}
