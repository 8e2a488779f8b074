package clickhouseexporter

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
)

// A batch that is too much for the store's memory at once is stored in parts; nothing of it is dropped, and a retry finds each
// part there.
func TestMoreThanTheStoresMemory(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	conn := connect(t, dsn)
	t.Cleanup(func() { letGo(conn) })
	if err := schema.Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	e := running(t, dsn+"?max_memory_usage=45000000")
	tel := counting(t, e)
	ld := plog.NewLogs()
	const records = 32
	for i := range records {
		newLog(ld, "api", strconv.Itoa(i)+strings.Repeat(" lorem ipsum", 1<<17), uint64(base.Add(time.Duration(i)*time.Second).UnixNano()), nil) //nolint:gosec // after 1970
	}
	for range 2 {
		if err := e.consumeLogs(t.Context(), ld); err != nil {
			t.Fatal(err)
		}
		if n := count(t, conn, "SELECT count() FROM events"); n != records {
			t.Errorf("%d rows", n)
		}
	}
	failed := counted(t, tel, "faultline_exporter_insert_failures_total", "reason")
	if failed["code_241"] == 0 || len(failed) > 1 {
		t.Errorf("inserts failed by reason %v, for too much memory is meant", failed)
	}
	if n := counted(t, tel, "faultline_exporter_rows_dropped_total", "")[""]; n != 0 {
		t.Errorf("%d records dropped", n)
	}
	// One record that takes more than that by itself is kept for some tries, then it goes, and its neighbours are there.
	huge := plog.NewLogs()
	newLog(huge, "api", "small", uint64(base.UnixNano()), nil)
	much := map[string]any{}
	for i := range 4 {
		much[strconv.Itoa(i)] = strings.Repeat("x", 12<<20)
	}
	newLog(huge, "api", "huge", uint64(base.UnixNano()), much)
	newLog(huge, "api", "as small", uint64(base.UnixNano()), nil)
	if err := e.consumeLogs(t.Context(), huge); err == nil || !tooMuch(err) {
		t.Fatal(err)
	}
	named := newBatch(3, 1<<24)
	named.decoder.Logs(huge, func(r *record.Record) bool { e.add(named, r); return true })
	for range suspectAfter - 2 { // as often as it is tried
		e.store.poison["events"].again(named.token(0, named.rows()))
	}
	if err := e.consumeLogs(t.Context(), huge); err != nil {
		t.Fatal(err)
	}
	if n := count(t, conn, "SELECT count() FROM events"); n != records+2 {
		t.Errorf("%d rows", n)
	}
	if n := counted(t, tel, "faultline_exporter_rows_dropped_total", "")[""]; n != 1 {
		t.Errorf("%d records dropped", n)
	}
}
