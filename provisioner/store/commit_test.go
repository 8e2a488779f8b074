package store_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// What is sent together with the commit fails with it: nothing is kept, and the connection is good for the
// next transaction.
func TestNothingWithoutItsJournal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		if !store.IsShared(target) {
			t.Skip("SQLite sends nothing with its commit: PostgreSQL's half of this test is the test")
		}
		e, err := telemetry.Open(telemetry.Config{Flush: time.Hour, Batch: 1, Queue: 1}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close(t.Context()) }()
		s := storetest.Open(t, target, store.Options{Emitter: e.Emitter("provisioner"), Journal: true})
		c, err := pgx.Connect(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(t.Context()) }()
		create := func(id string) error {
			return s.Update(t.Context(), "create", func(tx *store.Tx) error {
				_, err := tx.CreateAllocation(store.Allocation{ID: id, Pool: "p"})
				return err
			})
		}
		if err := create("a-1"); err != nil {
			t.Fatal(err)
		}
		rename := func(from, to string) {
			t.Helper()
			if _, err := c.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("journal", "elsewhere")
		for range 20 { // every connection has its turn
			if err := create("a-2"); err == nil {
				t.Fatal("committed without its events")
			}
		}
		rename("elsewhere", "journal")
		if err := create("a-2"); err != nil {
			t.Fatal(err)
		}
		var kept, told int
		if err := c.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM allocations), (SELECT count(*) FROM journal)`).Scan(&kept, &told); err != nil || kept != 2 || told != 2 {
			t.Fatalf("%d allocations, %d rows of the journal, %v", kept, told, err)
		}
	})
}
