package schema

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

func TestStats(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if _, err := readStats(t.Context(), conn); !errors.Is(err, ErrNoTables) {
		t.Fatalf("%v", err)
	}
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	exec(t, conn, "INSERT INTO events (key, signal, time, ingested_time, service, body) SELECT substring(MD5(toString(number)), 1, 12), 'log', now64(9), now64(9) - number, 's', toString(number) FROM numbers(1000)")
	s, err := readStats(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]TableStats{}
	for _, table := range s.Tables {
		tables[table.Table] = table
	}
	e := tables["events"]
	columns := uint64(0)
	for i, c := range e.Columns {
		columns += c.Bytes
		if i > 0 && c.Bytes > e.Columns[i-1].Bytes {
			t.Errorf("%s is larger than %s before it", c.Column, e.Columns[i-1].Column)
		}
	}
	if e.Rows != 1000 || e.Parts == 0 || columns+e.IndexBytes != e.Bytes || columns == 0 || !e.Estimated || s.Bytes < e.Bytes {
		t.Errorf("%+v", e)
	}
	if e.Columns[0].Column != "key" { // sixteen random bytes, beside four digits
		t.Errorf("%+v", e.Columns[:3])
	}
	if e.Oldest == nil || e.Newest == nil || e.Newest.Sub(*e.Oldest).Round(1e9).Seconds() != 999 {
		t.Errorf("from %v to %v", e.Oldest, e.Newest)
	}
	if diff := cmp.Diff([]Kept{{"lifecycle", 400}, {"raw", 14}, {"node", 90}}, e.Kept); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Kept{{"", 90}}, tables["liveness"].Kept); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
