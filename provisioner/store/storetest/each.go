// Package storetest runs tests on every database that a store can be in.
package storetest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/faultline-io/faultline/internal/postgrestest"
	"github.com/faultline-io/faultline/provisioner/store"
)

// Each runs f once on SQLite and once on PostgreSQL, each with a new database.
func Each(t *testing.T, f func(t *testing.T, target string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, filepath.Join(t.TempDir(), "p.db")) })
	t.Run("postgres", func(t *testing.T) { f(t, postgrestest.DSN(t)) })
}

// Open opens a store for as long as the test runs.
func Open(t testing.TB, target string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
