// Package storetest runs tests on every database that a store can be in.
package storetest

import (
	"path/filepath"
	"testing"

	"github.com/faultline-io/faultline/internal/postgrestest"
)

// Each runs f once on SQLite and once on PostgreSQL, each with a new database.
func Each(t *testing.T, f func(t *testing.T, target string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, filepath.Join(t.TempDir(), "p.db")) })
	t.Run("postgres", func(t *testing.T) { f(t, postgrestest.DSN(t)) })
}
