//go:build linux && amd64

package chdb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
	"github.com/faultline-io/faultline/internal/embedded/engine"
)

// connect opens a session of the test binary's one engine.
var connect func(args ...string) (*chdb.Conn, error)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		path, err := engine.Install(context.Background(), "", os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		library, err := chdb.Load(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		dir, err := os.MkdirTemp("", "chdb")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		connect = func(args ...string) (*chdb.Conn, error) {
			return library.Connect(append([]string{"--path=" + dir + "/data"}, args...)...)
		}
		keep, err := connect()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer keep.Close()
		if err := keep.Exec("CREATE DATABASE pins ENGINE = Atomic"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

func open(t *testing.T) *chdb.Conn {
	t.Helper()
	c, err := connect("--implicit_select=0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Exec("USE pins"); err != nil {
		t.Fatal(err)
	}
	return c
}

func text(t *testing.T, c *chdb.Conn, q string) string {
	t.Helper()
	b, _, err := c.Query([]byte(q), "TSV", nil)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return strings.TrimSpace(string(b))
}

func wantCode(t *testing.T, err error, code int) {
	t.Helper()
	var e *chdb.Exception
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%v, want code %d", err, code)
	}
}

// A nil dereference in Go must stay a panic once the engine runs.
func TestGoKeepsItsSignalHandlers(t *testing.T) {
	_ = open(t)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var none *chdb.Exception
	_ = none.Code
}

func TestClassify(t *testing.T) {
	c := open(t)
	for q, want := range map[string]chdb.Analysis{
		"SELECT 1":                                     {Statements: 1, Class: chdb.ReadOnly},
		"SELECT 1; -- x":                               {Statements: 1, Class: chdb.ReadOnly},
		"SELECT 1; SELECT 2":                           {Statements: 2, Class: chdb.ReadOnly},
		"INSERT INTO t VALUES (1); DROP TABLE t":       {Statements: 2, Class: chdb.Mutating},
		"INSERT INTO t FORMAT CSV\n1;2":                {Statements: 1, Class: chdb.Mutating},
		"DROP TABLE a PARALLEL WITH DROP TABLE b":      {Statements: 2, Class: chdb.Mutating},
		"CREATE FUNCTION f AS x -> x":                  {Statements: 1, Class: chdb.MutatingGlobal},
		"SYSTEM SHUTDOWN":                              {Statements: 1, Class: chdb.Control},
		"CREATE TEMPORARY TABLE x (a Int8)":            {Statements: 1, Class: chdb.Control},
		"SELECT 1 INTO OUTFILE '/tmp/x'":               {Statements: 1, Class: chdb.Control},
		"INSERT INTO FUNCTION null('a Int8') SELECT 1": {Statements: 1, Class: chdb.Control},
		"selekt": {Class: chdb.Unknown},
		"":       {Class: chdb.Unknown},
	} {
		got, err := c.Classify([]byte(q))
		got.Flags = 0
		if err != nil || got != want {
			t.Errorf("%q: %+v %v, want %+v", q, got, err, want)
		}
	}
}

func TestStream(t *testing.T) {
	c := open(t)
	rows, chunks := uint64(0), 0
	err := c.Stream([]byte("SELECT number FROM numbers(1000000) WHERE number < {n:UInt64}"), "RowBinary", map[string]string{"n": "500000"}, func(b []byte, s chdb.Stats) error {
		rows, chunks = rows+s.ResultRows, chunks+1
		if uint64(len(b)) != 8*s.ResultRows {
			t.Errorf("%d bytes for %d rows", len(b), s.ResultRows)
		}
		return nil
	})
	if err != nil || rows != 500000 || chunks < 3 {
		t.Errorf("%d rows in %d chunks, %v", rows, chunks, err)
	}
	stop := errors.New("enough")
	if err := c.Stream([]byte("SELECT * FROM numbers(1000000000000)"), "RowBinary", nil, func([]byte, chdb.Stats) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if got := text(t, c, "SELECT 1"); got != "1" { // the session is free
		t.Errorf("%q", got)
	}
	wantCode(t, c.Stream([]byte("SELECT throwIf(number = 900000) FROM numbers(1000000)"), "RowBinary", nil, func([]byte, chdb.Stats) error { return nil }), 395)
	wantCode(t, c.Stream([]byte("SHOW TABLES"), "RowBinary", nil, func([]byte, chdb.Stats) error { return nil }), 36)
}

func TestInsert(t *testing.T) {
	c := open(t)
	if err := c.Exec("CREATE TABLE ins (a UInt64) ENGINE = MergeTree ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	ins, err := c.Insert([]byte("INSERT INTO ins (a)"), "RowBinary", nil)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 8000)
	for _, part := range [][]byte{data[:3], data[3:4001], nil, data[4001:]} { // cut anywhere
		if _, err := ins.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ins.Done()
	if err != nil || s.WrittenRows != 1000 {
		t.Errorf("%+v, %v", s, err)
	}
	if ins, err = c.Insert([]byte("INSERT INTO ins (a)"), "RowBinary", nil); err != nil {
		t.Fatal(err)
	}
	_, _ = ins.Write(data)
	ins.Cancel()
	if got := text(t, c, "SELECT count() FROM ins"); got != "1000" {
		t.Errorf("%s rows after a cancelled insert", got)
	}
	_, err = c.Insert([]byte("INSERT INTO nowhere (a)"), "RowBinary", nil)
	wantCode(t, err, 60)
}

// What this version does and the store is built around. A change here is news: read what relies on it.
func TestPins(t *testing.T) {
	c := open(t)
	if err := c.Exec("CREATE TABLE p (a UInt8) ENGINE = MergeTree ORDER BY a"); err != nil {
		t.Fatal(err)
	}
	// Multi-statement text is run: hence the classification before.
	if got := text(t, c, "SELECT 1; SELECT 2"); got != "1\n2" {
		t.Errorf("two statements: %q", got)
	}
	// No query_log: hence the history of package chhttp.
	wantCode(t, c.Exec("SELECT count() FROM system.query_log"), 60)
	// Native blocks have no block info, revision 0: hence the answer to the driver's hello.
	b, _, err := c.Query([]byte("SELECT 1 AS x"), "Native", nil)
	if d := cmp.Diff("\x01\x01\x01x\x05UInt8\x01", string(b)); d != "" || err != nil {
		t.Error(d, err)
	}
	// An empty result has no header block: hence the DESCRIBE of package chhttp.
	if b, _, err := c.Query([]byte("SELECT 1 AS x WHERE 0"), "Native", nil); len(b) != 0 || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	// "default" is an Overlay: hence a database of our own.
	if got := text(t, c, "SELECT engine FROM system.databases WHERE name IN ('default', 'pins') ORDER BY name"); got != "Overlay\nAtomic" {
		t.Errorf("engines %q", got)
	}
	// DDL for clusters parses, so it can be checked here.
	if got := text(t, c, "EXPLAIN AST CREATE TABLE x ON CLUSTER c (a UInt8) ENGINE = ReplicatedMergeTree ORDER BY a"); !strings.Contains(got, "CreateQuery") {
		t.Errorf("%q", got)
	}
}

func TestWorksToo(t *testing.T) {
	c := open(t)
	for _, q := range []string{
		"CREATE TABLE p2 (id UInt8) ENGINE = MergeTree ORDER BY id", "INSERT INTO p2 VALUES (1), (2)",
		"CREATE TABLE rep (id UInt8, v UInt8) ENGINE = ReplacingMergeTree(v) ORDER BY id",
		"INSERT INTO rep VALUES (1, 1), (1, 2)",
		"CREATE TABLE agg (id UInt8, n AggregateFunction(count)) ENGINE = AggregatingMergeTree ORDER BY id",
		"CREATE MATERIALIZED VIEW mv TO agg AS SELECT id, countState() AS n FROM rep GROUP BY id",
		"INSERT INTO rep VALUES (1, 3)",
		"CREATE TABLE proj (id UInt8, t String, d Date DEFAULT '2100-01-01', PROJECTION by_t (SELECT _part_offset ORDER BY t), INDEX words t TYPE text(tokenizer = 'splitByNonAlpha')) ENGINE = MergeTree ORDER BY id TTL d",
		"INSERT INTO proj (id, t) VALUES (1, 'upstream timeout'), (2, 'ok')",
		"DELETE FROM p2 WHERE id = 2",
	} {
		if err := c.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	for q, want := range map[string]string{
		"SELECT v FROM rep FINAL":                          "3",
		"SELECT countMerge(n) FROM agg":                    "1",
		"SELECT id FROM proj WHERE hasToken(t, 'timeout')": "1",
		"SELECT count() FROM p2":                           "1",
		"SELECT a.v FROM rep AS a FINAL ASOF JOIN (SELECT 1::UInt8 AS id, 2::UInt8 AS v) AS b ON a.id = b.id AND a.v >= b.v": "3",
	} {
		if got := text(t, c, q); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
}
