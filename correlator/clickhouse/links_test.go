package clickhouse_test

import (
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/schema"
)

// A link that is told again, by a Collector that saw it earlier and was late to say so, stays known as of
// the time at which the first one told it, however rows are merged.
func TestALinkToldAgainStaysKnown(t *testing.T) {
	conn, err := schema.Open(t.Context(), embeddedtest.DSN(t))
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	tell := func(observed, ingested int64) {
		must(t, conn.Exec(t.Context(), `INSERT INTO links (subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to, observed_time, ingested_time)
			VALUES ('task', 'k-1', 'allocation', 'a-1', 'seen', 0, 0, fromUnixTimestamp64Nano(`+strconv.FormatInt(observed, 10)+`, 'UTC'), fromUnixTimestamp64Nano(`+strconv.FormatInt(ingested, 10)+`, 'UTC'))`))
	}
	now := time.Now().UnixNano() // what is older than the retention goes with the merge
	tell(now-4e9, now-3e9)
	tell(now-5e9, now-1e9)
	for _, table := range []string{"links", "links_by_object"} {
		must(t, conn.Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL"))
		var rows uint64
		var observed, ingested time.Time
		must(t, conn.QueryRow(t.Context(), "SELECT count(), min(observed_time), min(ingested_time) FROM "+table).Scan(&rows, &observed, &ingested))
		if rows != 1 || observed.UnixNano() != now-5e9 || ingested.UnixNano() != now-3e9 {
			t.Errorf("%s: %d rows, observed %s, ingested %s", table, rows, observed, ingested)
		}
	}
}
