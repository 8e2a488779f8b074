package chhttp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"
)

func readCloser(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

func exec(t *testing.T, c clickhouse.Conn, text string, args ...any) {
	t.Helper()
	if err := c.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// wantCode fails unless err is the engine's exception of that code.
func wantCode(t *testing.T, err error, code int32) {
	t.Helper()
	var e *clickhouse.Exception
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v (%T), want an exception with code %d", err, err, code)
	}
}

func TestHello(t *testing.T) {
	s := newStore(t, nil)
	for _, query := range []string{"", "compress=lz4", "compress=zstd", "compress=gzip"} {
		v, err := s.connect(query).ServerVersion()
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		if v.Revision != 0 || v.DisplayName != displayName || v.Timezone.String() != "UTC" {
			t.Errorf("%q: server %+v, want revision 0, %s, UTC", query, v, displayName)
		}
	}
}

func TestBatch(t *testing.T) {
	s := newStore(t, nil)
	type row struct {
		ID    uint64            `ch:"id"`
		Name  string            `ch:"name"`
		Low   string            `ch:"low"`
		Time  time.Time         `ch:"time"`
		Attrs map[string]string `ch:"attrs"`
		List  []int32           `ch:"list"`
		Kind  string            `ch:"kind"`
		Note  *string           `ch:"note"`
	}
	note := "n'ote\\"
	want := []row{
		{1, "a", "x", time.Unix(1, 123456789).UTC(), map[string]string{"k": "v", "": "é"}, []int32{1, -2}, "one", &note},
		{2, "", "x", time.Unix(1792000000, 999999999).UTC(), map[string]string{}, []int32{}, "two", nil},
	}
	for n, query := range []string{"", "compress=lz4", "compress=zstd", "compress=gzip", "compress=deflate"} {
		for _, columns := range []string{"", "(id, name, low, time, attrs, list, kind, note)"} {
			t.Run(query+columns, func(t *testing.T) {
				c := s.connect(query)
				table := fmt.Sprintf("batch%d_%d", n, len(columns))
				exec(t, c, `CREATE TABLE `+table+` (id UInt64, name String, low LowCardinality(String), time DateTime64(9),
					attrs Map(String, String), list Array(Int32), kind Enum8('one' = 1, 'two' = 2), note Nullable(String)) ENGINE = MergeTree ORDER BY id`)
				b, err := c.PrepareBatch(t.Context(), "INSERT INTO "+table+" "+columns)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range want {
					if err := b.AppendStruct(&r); err != nil {
						t.Fatal(err)
					}
				}
				if err := b.Send(); err != nil {
					t.Fatal(err)
				}
				var got []row
				if err := c.Select(t.Context(), &got, "SELECT * FROM "+table+" ORDER BY id"); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

func TestJSON(t *testing.T) {
	s := newStore(t, nil)
	c := s.connect("")
	exec(t, c, "CREATE TABLE j (id UInt8, doc JSON) ENGINE = MergeTree ORDER BY id")
	b, err := c.PrepareBatch(t.Context(), "INSERT INTO j")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Append(uint8(1), `{"a":{"b":7},"c":"x"}`); err != nil {
		t.Fatal(err)
	}
	if err := b.Send(); err != nil {
		t.Fatal(err)
	}
	var n int64
	var doc clickhouse.JSON
	if err := c.QueryRow(t.Context(), "SELECT doc.a.b::Int64, doc FROM j").Scan(&n, &doc); err != nil {
		t.Fatal(err)
	}
	if v, ok := clickhouse.ExtractJSONPathAs[string](&doc, "c"); n != 7 || !ok || v != "x" {
		t.Errorf("a.b = %d, c = %q", n, v)
	}
}

func TestParameters(t *testing.T) {
	s := newStore(t, nil)
	c := s.connect("")
	at := time.Date(2026, 3, 2, 10, 4, 11, 123456789, time.UTC)
	for _, text := range []string{"it's", "", "back\\slash", "tab\tline\nfeed", "{x:String}", "é\x01", `'; DROP TABLE x; --`} {
		var got string
		var n int32
		var list []string
		err := c.QueryRow(t.Context(), "SELECT {s:String}, {n:Int32}, {l:Array(String)}",
			clickhouse.Named("s", text), clickhouse.Named("n", "-7"), clickhouse.Named("l", []string{"a", "b'c"})).Scan(&got, &n, &list)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got != text || n != -7 || cmp.Diff(list, []string{"a", "b'c"}) != "" {
			t.Errorf("got %q %d %q, want %q -7", got, n, list, text)
		}
	}
	var got time.Time
	if err := c.QueryRow(t.Context(), "SELECT {t:DateTime64(9)}", clickhouse.DateNamed("t", at, clickhouse.NanoSeconds)).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if !got.Equal(at) {
		t.Errorf("time %s, want %s", got, at)
	}
	exec(t, c, "CREATE TABLE p (a UInt8) ENGINE = MergeTree ORDER BY a")
	exec(t, c, "INSERT INTO p SELECT {x:UInt8}", clickhouse.Named("x", "9"))
	var a uint8
	if err := c.QueryRow(t.Context(), "SELECT a FROM p WHERE a = ?", 9).Scan(&a); err != nil || a != 9 {
		t.Errorf("a = %d, %v", a, err)
	}
}

func TestSettingsDoNotLinger(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Sessions = 1 })
	c := s.connect("")
	ask := func(ctx context.Context) (threads, zone string) {
		t.Helper()
		if err := c.QueryRow(ctx, "SELECT toString(getSetting('max_threads')), timezone()").Scan(&threads, &zone); err != nil {
			t.Fatal(err)
		}
		return threads, zone
	}
	before, _ := ask(t.Context())
	set := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_threads": 7, "session_timezone": "Europe/Berlin"}))
	if n, zone := ask(set); n != "7" || zone != "Europe/Berlin" {
		t.Errorf("with settings: %s, %s", n, zone)
	}
	exec(t, c, "SET max_threads = 5")
	if n, zone := ask(t.Context()); n != before || zone != "UTC" {
		t.Errorf("afterwards: max_threads %s, want %s; timezone %s, want UTC", n, before, zone)
	}
	bad := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"no_such_setting": 1}))
	wantCode(t, c.Exec(bad, "SELECT 1"), 115)
	if n, _ := ask(t.Context()); n != before {
		t.Errorf("after a bad setting: max_threads %s, want %s", n, before)
	}
}

// Who may only read leaves a session in which nobody else is bound to that, and cannot free itself.
func TestReadOnlyDoesNotLinger(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Sessions = 1 })
	for _, level := range []string{"1", "2"} {
		reads, writes := s.connect("readonly="+level), s.connect("async_insert=0")
		exec(t, writes, "CREATE TABLE written_"+level+" (a Int8) ENGINE = MergeTree ORDER BY a")
		for range 2 {
			var n uint64
			if err := reads.QueryRow(t.Context(), "SELECT count() FROM written_"+level).Scan(&n); err != nil {
				t.Fatal(err)
			}
			exec(t, writes, "INSERT INTO written_"+level+" VALUES (1)")
			wantCode(t, reads.Exec(t.Context(), "INSERT INTO written_"+level+" VALUES (1)"), 164)
			wantCode(t, reads.Exec(t.Context(), "SELECT 1 SETTINGS readonly = 0"), 164)
		}
	}
}

func TestExceptionBefore(t *testing.T) {
	s := newStore(t, nil)
	for _, query := range []string{"", "compress=lz4", "compress=zstd", "compress=gzip"} {
		c := s.connect(query)
		wantCode(t, c.Exec(t.Context(), "SELECT * FROM nowhere"), 60)
		_, err := c.Query(t.Context(), "SELECT * FROM nowhere")
		wantCode(t, err, 60)
		_, err = c.Query(t.Context(), "SELECT * FRM x y z")
		wantCode(t, err, 62)
		_, err = c.Query(t.Context(), "SELECT throwIf(1)")
		wantCode(t, err, 395)
	}
}

func TestExceptionMidStream(t *testing.T) {
	s := newStore(t, nil)
	for _, query := range []string{"", "compress=lz4", "compress=zstd", "compress=gzip"} {
		t.Run(query, func(t *testing.T) {
			c := s.connect(query)
			rows, err := c.Query(t.Context(), "SELECT number, throwIf(number = 3000000) FROM numbers(4000000)")
			if err != nil {
				t.Fatalf("the first megabyte should have come: %v", err)
			}
			n := 0
			for rows.Next() {
				n++
			}
			if n == 0 {
				t.Error("no rows before the exception")
			}
			wantCode(t, rows.Err(), 395)
			exec(t, c, "SELECT 1")
		})
	}
}

func TestEmptyResultHasColumns(t *testing.T) {
	s := newStore(t, nil)
	for _, query := range []string{"", "compress=lz4"} {
		rows, err := s.connect(query).Query(t.Context(), "SELECT 1 AS a, now64(9) AS b, map('x', 1) AS c WHERE 0 -- nothing")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"a", "b", "c"}, rows.Columns()); d != "" {
			t.Error(d)
		}
		if rows.Next() || rows.Err() != nil {
			t.Errorf("a row, or %v", rows.Err())
		}
		rows.Close()
	}
}

func TestDatabaseSQL(t *testing.T) {
	s := newStore(t, nil)
	db, err := sql.Open("clickhouse", s.dsn("compress=lz4"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE q (a UInt32, s String) ENGINE = MergeTree ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	st, err := tx.PrepareContext(t.Context(), "INSERT INTO q (a, s)")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if _, err := st.ExecContext(t.Context(), uint32(i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var n, sum uint64
	if err := db.QueryRowContext(t.Context(), "SELECT count(), sum(a) FROM q WHERE s = @s", sql.Named("s", "x")).Scan(&n, &sum); err != nil {
		t.Fatal(err)
	}
	if n != 1000 || sum != 499500 {
		t.Errorf("count %d, sum %d", n, sum)
	}
}

func TestAsyncInsert(t *testing.T) {
	s := newStore(t, nil)
	c := s.connect("")
	exec(t, c, "CREATE TABLE a (n UInt32) ENGINE = MergeTree ORDER BY n")
	ctx := clickhouse.Context(t.Context(), clickhouse.WithAsync(true))
	for i := range 5 {
		if err := c.Exec(ctx, fmt.Sprintf("INSERT INTO a VALUES (%d)", i)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := c.PrepareBatch(ctx, "INSERT INTO a (n)")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Append(uint32(5)); err != nil {
		t.Fatal(err)
	}
	if err := b.Send(); err != nil {
		t.Fatal(err)
	}
	var n uint64
	if err := c.QueryRow(t.Context(), "SELECT count() FROM a").Scan(&n); err != nil || n != 6 {
		t.Errorf("count %d, %v", n, err)
	}
}

func TestDeduplicationToken(t *testing.T) {
	s := newStore(t, nil)
	c := s.connect("compress=lz4")
	exec(t, c, "CREATE TABLE d (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100")
	send := func(token string) {
		ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"insert_deduplicate": 1, "insert_deduplication_token": token}))
		b, err := c.PrepareBatch(ctx, "INSERT INTO d (n)")
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Append(uint32(1)); err != nil {
			t.Fatal(err)
		}
		if err := b.Send(); err != nil {
			t.Fatal(err)
		}
	}
	send("one")
	send("one")
	send("two")
	var n uint64
	if err := c.QueryRow(t.Context(), "SELECT count() FROM d").Scan(&n); err != nil || n != 2 {
		t.Errorf("count %d, %v; want 2", n, err)
	}
}

func TestMoreClientsThanSessions(t *testing.T) {
	s := newStore(t, nil) // 4 sessions
	c := s.connect("compress=lz4&max_open_conns=16")
	exec(t, c, "CREATE TABLE m (g UInt32, n UInt32) ENGINE = MergeTree ORDER BY n")
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 10 {
				b, err := c.PrepareBatch(t.Context(), "INSERT INTO m (g, n)")
				if err != nil {
					t.Error(err)
					return
				}
				for n := range 100 {
					_ = b.Append(uint32(g), uint32(i*100+n))
				}
				if err := b.Send(); err != nil {
					t.Error(err)
					return
				}
				var n uint64
				if err := c.QueryRow(t.Context(), "SELECT count() FROM m WHERE g = {g:UInt32}", clickhouse.Named("g", fmt.Sprint(g))).Scan(&n); err != nil {
					t.Error(err)
					return
				}
				if want := uint64(100 * (i + 1)); n != want {
					t.Errorf("client %d sees %d of its rows, want %d", g, n, want)
				}
			}
		})
	}
	all.Wait()
}
