package postgrestest

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
)

// one is this process's cluster: made when the first test asks, gone when the process is.
var one = sync.OnceValues(func() (*Cluster, error) { return Start(context.Background(), Hasty()) })

// DSN is that of an empty database for this test alone. Where there is no PostgreSQL the test is skipped,
// and in continuous integration it fails.
func DSN(t testing.TB) string {
	t.Helper()
	c, err := one()
	if errors.Is(err, ErrAbsent) && os.Getenv("CI") == "" {
		t.Skip("NOT TESTED ON POSTGRESQL: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := c.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}
