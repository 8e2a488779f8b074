package schema

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

var quiet = slog.New(slog.DiscardHandler)

func open(t *testing.T, dsn string) driver.Conn {
	t.Helper()
	conn, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestMigrateOnceFromManyProcesses(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	const processes = 4
	var wg sync.WaitGroup
	errs := make([]error, processes)
	for i := range processes {
		conn := open(t, dsn)
		wg.Go(func() { errs[i] = Migrate(t.Context(), conn, quiet) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	conn := open(t, dsn)
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	var rows uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM schema_migrations").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows != uint64(len(all)) {
		t.Fatalf("%d migrations were recorded, want %d: some ran twice", rows, len(all))
	}
	todo, err := Plan(t.Context(), conn)
	if err != nil || len(todo) != 0 {
		t.Fatalf("plan after migrating: %v, %v", todo, err)
	}
	if _, comment, _, err := top(t.Context(), conn); err != nil || comment != lockReleased {
		t.Fatalf("lock is %q, %v", comment, err)
	}
}

func TestPlanChangesNothing(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	todo, err := Plan(t.Context(), conn)
	if err != nil || len(todo) != len(all) {
		t.Fatalf("%d of %d planned, %v", len(todo), len(all), err)
	}
	var tables uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM system.tables WHERE database = currentDatabase()").Scan(&tables); err != nil || tables != 0 {
		t.Fatalf("%d tables, %v", tables, err)
	}
}

func migrationsOf(t *testing.T, text map[string]string) []Migration {
	t.Helper()
	folder := fstest.MapFS{}
	for name, sql := range text {
		folder[name] = &fstest.MapFile{Data: []byte(sql)}
	}
	all, err := read(folder)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestChangedMigrationStopsTheStart(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	first := migrationsOf(t, map[string]string{"0001_a.sql": "CREATE TABLE IF NOT EXISTS a (n UInt8) ENGINE = MergeTree ORDER BY n"})
	if err := migrate(t.Context(), conn, quiet, first, ""); err != nil {
		t.Fatal(err)
	}
	changed := migrationsOf(t, map[string]string{
		"0001_a.sql": "CREATE TABLE IF NOT EXISTS a (n UInt16) ENGINE = MergeTree ORDER BY n",
		"0002_b.sql": "CREATE TABLE IF NOT EXISTS b (n UInt8) ENGINE = MergeTree ORDER BY n",
	})
	err := migrate(t.Context(), conn, quiet, changed, "")
	if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "0001_a.sql") {
		t.Fatalf("error %v", err)
	}
	var tables uint64
	if err := conn.QueryRow(t.Context(), "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'b'").Scan(&tables); err != nil || tables != 0 {
		t.Fatalf("a later migration was applied all the same: %v", err)
	}
}

func TestFailedMigrationIsNamedAndRetried(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	broken := migrationsOf(t, map[string]string{
		"0001_a.sql": "CREATE TABLE IF NOT EXISTS a (n UInt8) ENGINE = MergeTree ORDER BY n",
		"0002_b.sql": "CREATE TABEL b",
	})
	if err := migrate(t.Context(), conn, quiet, broken, ""); err == nil || !strings.Contains(err.Error(), "0002_b.sql") {
		t.Fatalf("error %v", err)
	}
	repaired := migrationsOf(t, map[string]string{
		"0001_a.sql": "CREATE TABLE IF NOT EXISTS a (n UInt8) ENGINE = MergeTree ORDER BY n",
		"0002_b.sql": "CREATE TABLE IF NOT EXISTS b (n UInt8) ENGINE = MergeTree ORDER BY n",
	})
	if err := migrate(t.Context(), conn, quiet, repaired, ""); err != nil {
		t.Fatal(err)
	}
}

func TestNewerMigrationsAreLeftAlone(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	newer := migrationsOf(t, map[string]string{"0001_a.sql": "SELECT 1", "0002_b.sql": "SELECT 2"})
	if err := migrate(t.Context(), conn, quiet, newer, ""); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), conn, quiet, newer[:1], ""); err != nil {
		t.Fatal(err)
	}
}

// A holder that was killed leaves its lock behind. The next one waits until the lock is stale and takes
// over; a third that looked at the same moment does not get it too.
func TestLockOfADeadHolderIsTakenOver(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := create(t.Context(), conn, 1, "held by the-dead/1"); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 3*stale)
	defer cancel()
	l, err := acquire(ctx, conn, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(begun); waited < stale-2*time.Second {
		t.Fatalf("taken over after %s from a holder that may be alive", waited)
	}
	if l.number != 2 {
		t.Fatalf("generation %d", l.number)
	}
	short, cancelShort := context.WithTimeout(t.Context(), time.Second)
	defer cancelShort()
	if _, err := acquire(short, conn, quiet); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a held lock was given away: %v", err)
	}
	if err := l.release(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err = acquire(ctx, conn, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A holder that was only stopped (a paused host) finds out before it does anything more.
func TestHolderNoticesThatItWasReplaced(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	l, err := acquire(t.Context(), conn, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), conn, l.number+1, "held by another/2"); err != nil {
		t.Fatal(err)
	}
	if err := l.held(t.Context()); !errors.Is(err, errLockLost) {
		t.Fatalf("error %v", err)
	}
	select {
	case <-l.ctx.Done():
	case <-time.After(2 * beat):
		t.Fatal("the work under the lock goes on")
	}
	if err := l.release(t.Context()); !errors.Is(err, errLockLost) {
		t.Fatalf("error %v", err)
	}
}

func TestMigrationNames(t *testing.T) {
	sql := &fstest.MapFile{Data: []byte("SELECT 1")}
	cases := []struct {
		names []string
		want  string // "" is no error
	}{
		{[]string{"0001_events.sql", "0030_views.sql"}, ""},
		{[]string{"0002_events.sql", "0002_links.sql"}, "0002_links.sql: number 0002 is there twice"},
		{[]string{"1_events.sql"}, "is not NNNN_noun.sql"},
	}
	for _, c := range cases {
		folder := fstest.MapFS{}
		for _, name := range c.names {
			folder[name] = sql
		}
		all, err := read(folder)
		if c.want == "" {
			if err != nil || len(all) != len(c.names) {
				t.Errorf("%s: %v", c.names, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.names, err)
		}
	}
}
