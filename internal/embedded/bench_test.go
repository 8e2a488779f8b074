package embedded_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

func open(b *testing.B, change func(*embedded.Config)) (clickhouse.Conn, *embeddedtest.Process) {
	b.Helper()
	cfg := embeddedtest.Config(b.TempDir())
	change(&cfg)
	p, err := embeddedtest.Start(b, cfg)
	if err != nil {
		b.Fatal(err)
	}
	o, err := clickhouse.ParseDSN(p.DSN)
	if err != nil {
		b.Fatal(err)
	}
	o.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	c, err := clickhouse.Open(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c, p
}

// resident is a process's RSS in bytes.
func resident(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages float64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize())
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		_, p := open(b, func(*embedded.Config) {})
		b.ReportMetric(resident(p.PID)/1e6, "MB-rss")
		if err := p.Kill(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect1(b *testing.B) {
	c, _ := open(b, func(*embedded.Config) {})
	for b.Loop() {
		var n uint8
		if err := c.QueryRow(b.Context(), "SELECT 1").Scan(&n); err != nil {
			b.Fatal(err)
		}
	}
}

// Log records with a map of six keys, in batches as a Collector sends them and larger ones.
func BenchmarkInsert(b *testing.B) {
	for _, fsync := range []bool{false, true} {
		for _, rows := range []int{1000, 10000, 100000} {
			b.Run(fmt.Sprintf("fsync=%v/rows=%d", fsync, rows), func(b *testing.B) {
				c, p := open(b, func(cfg *embedded.Config) { cfg.Fsync = fsync })
				err := c.Exec(b.Context(), `CREATE TABLE logs (allocation_id LowCardinality(String), time DateTime64(9), body String,
					attrs Map(LowCardinality(String), String)) ENGINE = MergeTree ORDER BY (allocation_id, time)`)
				if err != nil {
					b.Fatal(err)
				}
				attrs := map[string]string{"service.name": "envoy", "http.method": "GET", "url.path": "/v1/nodes", "status": "503", "node_id": "n-1", "k": "v"}
				body := strings.Repeat("upstream connect error ", 5)
				at := time.Unix(1770000000, 0)
				sent := 0
				for b.Loop() {
					batch, err := c.PrepareBatch(b.Context(), "INSERT INTO logs (allocation_id, time, body, attrs)")
					if err != nil {
						b.Fatal(err)
					}
					for n := range rows {
						_ = batch.Append(fmt.Sprintf("a-%d", n%100), at.Add(time.Duration(sent+n)), body, attrs)
					}
					if err := batch.Send(); err != nil {
						b.Fatal(err)
					}
					sent += rows
				}
				b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(resident(p.PID)/1e6, "MB-rss")
			})
		}
	}
}
