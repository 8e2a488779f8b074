package clickhouseexporter

import (
	"strconv"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// stating gives a record for each workflow, which states that this belongs to an allocation.
func stating(workflows ...string) plog.Logs {
	ld := plog.NewLogs()
	for i, w := range workflows {
		newLog(ld, "api", "of "+w, uint64(base.UnixNano())+uint64(i), map[string]any{"allocation_id": "a-1", "workflow_id": w}) //nolint:gosec // after 1970
	}
	return ld
}

func do(t *testing.T, conn driver.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := conn.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// holds compares what there is of records and of links.
func holds(t *testing.T, conn driver.Conn, what string, events, links int) {
	t.Helper()
	for table, want := range map[string]int{"events": events, "links FINAL": links} {
		if n := count(t, conn, "SELECT count() FROM "+table); n != want {
			t.Errorf("%s: %d %s, want %d", what, n, table, want)
		}
	}
}

func refusedLinks(t *testing.T, tel *componenttest.Telemetry) map[string]int64 {
	t.Helper()
	return counted(t, tel, "faultline_exporter_links_refused_total", "reason")
}

// A link that the store objects to costs itself: not the links beside it, no record, and not the time of the next batch
// that states it.
func TestOneBadLink(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	tel := counting(t, e)
	conn := connect(t, dsn)
	t.Cleanup(func() { letGo(conn) })
	do(t, conn, "ALTER TABLE links ADD CONSTRAINT no_poison CHECK subject_id != 'poison'")
	var workflows []string
	for i := range 100 {
		workflows = append(workflows, "w-"+strconv.Itoa(i))
	}
	workflows[0] = "poison"
	if err := e.consumeLogs(t.Context(), stating(workflows...)); err != nil {
		t.Fatal(err)
	}
	holds(t, conn, "a bad link among a hundred", 100, 99)
	failures := counted(t, tel, "faultline_exporter_insert_failures_total", "table")["links"]
	if err := e.consumeLogs(t.Context(), stating("poison", "w-100")); err != nil {
		t.Fatal(err)
	}
	holds(t, conn, "told once more", 102, 100)
	if diff := cmp.Diff(map[string]int64{"store": 1}, refusedLinks(t, tel)); diff != "" {
		t.Error(diff)
	}
	if n := counted(t, tel, "faultline_exporter_insert_failures_total", "table")["links"]; n != failures || n == 0 {
		t.Errorf("%d inserts of links failed, %d before the link was told once more", n, failures)
	}
	if n := counted(t, tel, "faultline_exporter_links_total", "")[""]; n != 100 {
		t.Errorf("%d links counted", n)
	}
}

// A link that is refused for a reason nobody has listed does not hold the queue for ever; links that refuse whatever
// comes keep the batch, although records are stored meanwhile.
func TestLinkRefusedForNoKnownReason(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	tel := counting(t, e)
	conn := connect(t, dsn)
	t.Cleanup(func() { letGo(conn) })
	object := func(condition string) {
		t.Helper()
		do(t, conn, "ALTER TABLE links DROP COLUMN IF EXISTS objection",
			"ALTER TABLE links ADD COLUMN objection SimpleAggregateFunction(max, UInt8) MATERIALIZED throwIf("+condition+")")
	}
	refused := func(what string, ld plog.Logs, times int) {
		t.Helper()
		for n := range times {
			if err := e.consumeLogs(t.Context(), ld); err == nil || !obscure(err) {
				t.Fatalf("%s, try %d: %v", what, n+1, err)
			}
		}
	}
	object("subject_id = 'poison'")
	mixed := stating("w-1", "poison", "w-2")
	refused("one of three links", mixed, suspectAfter-1)
	holds(t, conn, "before it was tried often enough", 0, 0)
	if err := e.consumeLogs(t.Context(), mixed); err != nil {
		t.Fatal(err)
	}
	holds(t, conn, "after", 3, 2)

	object("1") // whatever it is
	plain := plog.NewLogs()
	newLog(plain, "api", "no links either", uint64(base.UnixNano()), nil)
	alone := stating("w-3")
	refused("links in trouble", alone, 1)
	if err := e.consumeLogs(t.Context(), plain); err != nil { // records alone go on being stored
		t.Fatal(err)
	}
	refused("links in trouble", alone, suspectAfter+1)
	if diff := cmp.Diff(map[string]int64{"store": 1}, refusedLinks(t, tel)); diff != "" {
		t.Error(diff)
	}
	object("0")
	if err := e.consumeLogs(t.Context(), alone); err != nil {
		t.Fatal(err)
	}
	holds(t, conn, "healed", 5, 3)
}

// Links come before the records that state them, and each is there once, whichever of the two was refused first.
func TestLinksComeFirst(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	e := running(t, dsn)
	conn := connect(t, dsn)
	t.Cleanup(func() { letGo(conn) })
	ld := stating("w-1", "w-2")
	try := func(away string, events, links int) {
		t.Helper()
		do(t, conn, "RENAME TABLE "+away+" TO away")
		for range suspectAfter + 1 { // the store's own state: nothing is dropped, however often
			if err := e.consumeLogs(t.Context(), ld); err == nil {
				t.Fatalf("stored without %s", away)
			}
		}
		do(t, conn, "RENAME TABLE away TO "+away)
		holds(t, conn, "without "+away, events, links)
	}
	try("links", 0, 0)
	try("events", 0, 2)
	e.links.known.Purge() // as after a restart between the two
	for range 2 {
		if err := e.consumeLogs(t.Context(), ld); err != nil {
			t.Fatal(err)
		}
		holds(t, conn, "both there", 2, 2)
	}
	if n := count(t, conn, "SELECT count() FROM links_by_object FINAL"); n != 2 {
		t.Errorf("%d links by object", n)
	}
}
