package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

func connect(t *testing.T, dsn string) clickhouse.Conn {
	t.Helper()
	o, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clickhouse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustStart(t *testing.T, cfg embedded.Config) *embeddedtest.Process {
	t.Helper()
	p, err := embeddedtest.Start(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every batch that was acknowledged before kill -9 is there after a restart on the same folder, and none in part.
func TestKillDuringInserts(t *testing.T) {
	const batch = 1000
	cfg := embeddedtest.Config(t.TempDir())
	p := mustStart(t, cfg)
	c := connect(t, p.DSN)
	if err := c.Exec(t.Context(), "CREATE TABLE k (writer UInt32, batch UInt32, row UInt32, text String) ENGINE = MergeTree ORDER BY (writer, batch)"); err != nil {
		t.Fatal(err)
	}
	for round := range uint32(3) {
		var mu sync.Mutex
		acknowledged := map[[2]uint32]bool{}
		var all sync.WaitGroup
		for w := range uint32(4) {
			writer := round*10 + w
			all.Go(func() {
				for n := uint32(0); ; n++ {
					b, err := c.PrepareBatch(context.Background(), "INSERT INTO k (writer, batch, row, text)")
					if err != nil {
						return
					}
					for row := range uint32(batch) {
						_ = b.Append(writer, n, row, "some text of a log line")
					}
					if b.Send() != nil {
						return
					}
					mu.Lock()
					acknowledged[[2]uint32{writer, n}] = true
					mu.Unlock()
				}
			})
		}
		for enough := false; !enough; time.Sleep(5 * time.Millisecond) {
			mu.Lock()
			enough = len(acknowledged) >= 40
			mu.Unlock()
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		p = mustStart(t, cfg)
		c = connect(t, p.DSN)
		rows, err := c.Query(t.Context(), "SELECT writer, batch, count() FROM k WHERE intDiv(writer, 10) = {r:UInt32} GROUP BY ALL", clickhouse.Named("r", fmt.Sprint(round)))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for rows.Next() {
			var key [2]uint32
			var n uint64
			if err := rows.Scan(&key[0], &key[1], &n); err != nil {
				t.Fatal(err)
			}
			if n != batch {
				t.Errorf("batch %v has %d of %d rows", key, n, batch)
			}
			if acknowledged[key] {
				found++
			}
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
		if found != len(acknowledged) {
			t.Errorf("%d of %d acknowledged batches are there", found, len(acknowledged))
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("%v: %s", err, p.Said())
	}
}

func TestRestartKeepsPasswordAndData(t *testing.T) {
	cfg := embeddedtest.Config(t.TempDir())
	p := mustStart(t, cfg)
	c := connect(t, p.DSN)
	for _, text := range []string{"CREATE TABLE r (a UInt8) ENGINE = MergeTree ORDER BY a", "INSERT INTO r VALUES (7)"} {
		if err := c.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	again := mustStart(t, cfg)
	if credentials := func(dsn string) string { c, _, _ := strings.Cut(dsn, "@"); return c }; credentials(p.DSN) != credentials(again.DSN) {
		t.Error("the password has changed")
	}
	var a uint8
	if err := connect(t, again.DSN).QueryRow(t.Context(), "SELECT a FROM r").Scan(&a); err != nil || a != 7 {
		t.Errorf("a = %d, %v", a, err)
	}
	b, err := os.ReadFile(filepath.Join(cfg.DataDir, "lock"))
	if err != nil || strings.TrimSpace(string(b)) != fmt.Sprint(again.PID) {
		t.Errorf("lock file: %q, %v", b, err)
	}
}

// The time zone of the host must not reach what is stored and read.
func TestTimeZoneOfTheHost(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	p := mustStart(t, embeddedtest.Config(t.TempDir()))
	c := connect(t, p.DSN)
	if err := c.Exec(t.Context(), "CREATE TABLE z (t DateTime64(9), d DateTime DEFAULT toDateTime('2026-03-02 10:04:11')) ENGINE = MergeTree ORDER BY t"); err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 3, 2, 10, 4, 11, 5, time.UTC)
	b, err := c.PrepareBatch(t.Context(), "INSERT INTO z (t)")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Append(want); err != nil {
		t.Fatal(err)
	}
	if err := b.Send(); err != nil {
		t.Fatal(err)
	}
	var at, d time.Time
	var text string
	if err := c.QueryRow(t.Context(), "SELECT t, d, toString(t) FROM z").Scan(&at, &d, &text); err != nil {
		t.Fatal(err)
	}
	if !at.Equal(want) || !d.Equal(want.Truncate(time.Second)) || text != "2026-03-02 10:04:11.000000005" {
		t.Errorf("%s, %s, %s", at, d, text)
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	cfg := embeddedtest.Config(t.TempDir())
	cfg.Listen = "localhost"
	if err := embedded.Run(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "listen:") {
		t.Errorf("%v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg.Listen = taken.Addr().String()
	if err := embedded.Run(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("%v", err)
	}
}
