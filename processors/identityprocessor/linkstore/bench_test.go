package linkstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// What "which links came in the last seconds" costs the store, by way of asking: 1 M links in 20 inserts,
// merged, and 100 new ones. rows and bytes are what the store reads for it, disk what the way itself adds.
func BenchmarkWhatCame(b *testing.B) {
	const columns = "subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to, service, ref, observed_time, ingested_time"
	const shape = `(subject_kind LowCardinality(String), subject_id String, object_kind LowCardinality(String), object_id String, type LowCardinality(String),
valid_from Int64, valid_to Int64, service LowCardinality(String), ref String, observed_time DateTime64(9, 'UTC'), ingested_time DateTime64(9, 'UTC')%s)
ENGINE = ReplacingMergeTree ORDER BY (subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to)%s`
	order := "INSERT INTO %s (" + columns + `) SELECT 'request', lower(hex(MD5(toString(number + %[2]d)))), 'allocation', concat('a-', toString(intDiv(number, 50))), 'seen',
0, 0, concat('svc-', toString(number %% 7)), concat('e-', lower(substring(hex(MD5(toString(number + %[2]d))), 1, 16))), now64(9), now64(9) - %[3]d FROM numbers(%[4]d)`
	cases := []struct{ name, table, create, where string }{
		{"links as they are", "plain", fmt.Sprintf(shape, "", ""), "ingested_time >= now64(9) - 60"},
		{"skip index minmax", "skipping", fmt.Sprintf(shape, ", INDEX came ingested_time TYPE minmax", ""), "ingested_time >= now64(9) - 60"},
		{"projection by time", "projected", fmt.Sprintf(shape, ", PROJECTION came (SELECT * ORDER BY ingested_time)", " SETTINGS deduplicate_merge_projection_mode = 'rebuild'"), "ingested_time >= now64(9) - 60"},
		{"links_by_time", "links", "", "stored_time >= now64(6) - 60"},
	}
	dsn := embeddedtest.DSN(b)
	conn := migrated(b, dsn)
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			if c.create != "" {
				do(b, conn, "CREATE TABLE "+c.table+" "+c.create)
			}
			from := c.table
			for i := range 20 {
				do(b, conn, fmt.Sprintf(order, c.table, i*50_000, 36_000-i*60, 50_000))
			}
			if c.table == "links" { // the inserts of this test are as old as in the others
				from = "links_by_time"
				do(b, conn, "TRUNCATE TABLE links_by_time")
				do(b, conn, "INSERT INTO links_by_time SELECT toDateTime64(ingested_time, 6) AS stored_time, service, subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to FROM links")
			}
			do(b, conn, "OPTIMIZE TABLE "+from+" FINAL")
			do(b, conn, fmt.Sprintf(order, c.table, 1_000_000, 0, 100))
			do(b, conn, "OPTIMIZE TABLE "+from+" FINAL")
			exact := clickhouse.Context(b.Context(), clickhouse.WithSettings(clickhouse.Settings{"wait_end_of_query": 1}))
			query := "SELECT subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to, service FROM " + from + " WHERE " + c.where
			for b.Loop() {
				rows, err := conn.Query(exact, query)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for rows.Next() {
					n++
				}
				if err := rows.Err(); err != nil || n != 100 {
					b.Fatal(n, err)
				}
			}
			for _, q := range statements(b, dsn, "FROM "+from+" WHERE") {
				if strings.HasPrefix(q.Statement, "SELECT subject_kind") {
					b.ReportMetric(float64(q.Rows), "rows")
					b.ReportMetric(float64(q.Bytes), "bytes")
				}
			}
			sum := "SELECT sum(data_compressed_bytes) FROM system.parts WHERE database = currentDatabase() AND active AND table = '" + from + "'"
			if c.table == "projected" {
				sum = "SELECT sum(data_compressed_bytes) FROM system.projection_parts WHERE database = currentDatabase() AND active AND table = 'projected'"
			}
			var disk uint64
			if err := conn.QueryRow(b.Context(), sum).Scan(&disk); err != nil {
				b.Fatal(err)
			}
			if c.table == "links" || c.table == "projected" {
				b.ReportMetric(float64(disk)/1_000_100, "disk-bytes/link")
			}
		})
	}
}
