package clickhouseexporter

import (
	"strconv"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// The store refuses with a code that nobody has listed: of a row, then the row goes, after a number of tries, and its
// neighbours are stored; of the store itself, then all is kept for as long as it lasts.
func TestRefusedForNoKnownReason(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	tel := counting(t, e)
	conn := connect(t, dsn)
	object := func(condition string) {
		t.Helper()
		for _, text := range []string{"ALTER TABLE events DROP COLUMN IF EXISTS objection", "ALTER TABLE events ADD COLUMN objection UInt8 MATERIALIZED throwIf(" + condition + ")"} {
			if err := conn.Exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	dropped := func() int64 { return counted(t, tel, "faultline_exporter_rows_dropped_total", "")[""] }
	batch := func(bodies ...string) plog.Logs {
		ld := plog.NewLogs()
		for i, body := range bodies {
			newLog(ld, "api", body, uint64(base.UnixNano())+uint64(i), nil) //nolint:gosec // after 1970
		}
		return ld
	}
	object("startsWith(body, 'poison')")
	var bodies []string
	for i := range 100 {
		bodies = append(bodies, strconv.Itoa(i))
	}
	bodies[0], bodies[70] = "poison", "poison too"
	mixed, alone := batch(bodies...), batch("poison alone")
	refused := func(what string, ld plog.Logs, times int) {
		t.Helper()
		for n := range times {
			if err := e.consumeLogs(t.Context(), ld); err == nil || !obscure(err) {
				t.Fatalf("%s, try %d: %v", what, n+1, err)
			}
		}
	}
	refused("one row alone, nothing else is stored", alone, suspectAfter+1)
	refused("two rows of a hundred", mixed, suspectAfter-1)
	if n := count(t, conn, "SELECT count() FROM events"); n != 0 || dropped() != 0 {
		t.Errorf("%d rows stored, %d dropped before it was tried often enough", n, dropped())
	}
	if err := e.consumeLogs(t.Context(), mixed); err != nil {
		t.Fatal(err)
	}
	if n := count(t, conn, "SELECT count() FROM events"); n != 98 || dropped() != 2 {
		t.Errorf("%d rows stored, %d dropped", n, dropped())
	}
	if err := e.consumeLogs(t.Context(), alone); err != nil { // others were stored meanwhile
		t.Fatal(err)
	}
	if dropped() != 3 {
		t.Errorf("%d dropped", dropped())
	}

	object("1") // whatever it is
	healthy := batch("a", "b", "c", "d", "e", "f", "g")
	refused("a store in trouble", healthy, suspectAfter+1)
	if dropped() != 3 {
		t.Errorf("%d dropped of a store in trouble", dropped()-3)
	}
	object("0")
	if err := e.consumeLogs(t.Context(), healthy); err != nil {
		t.Fatal(err)
	}
	if n := count(t, conn, "SELECT count() FROM events"); n != 98+7 {
		t.Errorf("%d rows", n)
	}
	letGo(conn)
}
