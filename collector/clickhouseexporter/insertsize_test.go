package clickhouseexporter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/record"
)

// What an insert of few records costs the store beside one of many, and what asynchronous inserts make of it: parts
// written, and the store's processor time.
func BenchmarkInsertSize(b *testing.B) {
	for _, c := range []struct{ records, async, wait int }{{16, 0, 0}, {16, 1, 1}, {16, 1, 0}, {4096, 0, 0}} {
		b.Run(fmt.Sprintf("records=%d/async=%d/wait=%d", c.records, c.async, c.wait), func(b *testing.B) {
			store, err := embeddedtest.Start(b, embeddedtest.Config(b.TempDir()))
			if err != nil {
				b.Fatal(err)
			}
			e := running(b, store.DSN)
			conn := connect(b, store.DSN)
			types, err := e.store.ready()
			if err != nil {
				b.Fatal(err)
			}
			rows := newBatch(c.records, 1<<20)
			rows.decoder.Logs(ordinary(c.records), func(r *record.Record) bool {
				r.Keys = e.profile.Keys(r)
				rows.add(r, r.Key())
				return true
			})
			settings := clickhouse.Settings{"async_insert": c.async, "wait_for_async_insert": c.wait}
			before := processorTime(b, store.PID)
			for b.Loop() {
				if err := e.store.insert(b.Context(), "events", eventColumns, types["events"][:len(eventColumns)], settings, rows.columns(0, c.records)); err != nil {
					b.Fatal(err)
				}
			}
			spent := processorTime(b, store.PID) - before
			parts := count(b, conn, "SELECT toUInt64(sum(last)) FROM (SELECT max(max_block_number) AS last FROM system.parts WHERE table = 'events' GROUP BY partition)")
			records := float64(b.N * c.records)
			b.ReportMetric(float64(parts)/records*1000, "parts/1000records")
			b.ReportMetric(float64(spent.Microseconds())/records, "store-µs/record")
		})
	}
}

// processorTime is what a process has used, in user and system mode; the system counts it in hundredths of a second.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("NOT MEASURED here: processor time is read from /proc")
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
