package embeddedtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// dsnEnv names a ClickHouse to test against instead of a store of our own; its user must be allowed to create databases.
const dsnEnv = "FAULTLINE_TEST_DSN"

// shared is the test binary's store. It is a global because it is one per process and outlives every test.
var shared = sync.OnceValues(func() (string, error) {
	if dsn := os.Getenv(dsnEnv); dsn != "" {
		return dsn, nil
	}
	dir, err := os.MkdirTemp(ephemeralFolder(), "faultline-store-")
	if err != nil {
		return "", err
	}
	p, err := start(Config(dir), filepath.Join(dir, "stderr"), dir)
	if err != nil {
		return "", err
	}
	keep = p
	return p.DSN, nil
})

// keep holds the end of the pipe whose closing ends the store: unreachable, the collector would close it.
var keep *Process //nolint:unused // held, not read

// DSN returns a DSN to a database of the test's own, on a store shared by the test binary. The database goes with the test.
// Where no store can be had the test fails.
func DSN(t testing.TB) string {
	t.Helper()
	dsn, err := shared()
	if err != nil {
		t.Fatalf("start a store for tests: %v", err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("%s: %v", dsnEnv, err)
	}
	name := "test_" + strings.ToLower(rand.Text()[:12])
	if err := run(dsn, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("create a database for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := run(dsn, "DROP DATABASE IF EXISTS "+name+" SYNC"); err != nil {
			t.Logf("drop the test's database: %v", err)
		}
	})
	u.Path = "/" + name
	return u.String()
}

// run runs one statement on a connection of its own, which leaves no goroutine behind.
func run(dsn, text string) error {
	o, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return err
	}
	c, err := clickhouse.Open(o)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := c.Exec(ctx, text); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}
