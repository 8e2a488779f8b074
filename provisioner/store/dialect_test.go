package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/postgrestest"
)

// both runs f on SQLite and on PostgreSQL; it is storetest.Each for tests of this package.
func both(t *testing.T, f func(t *testing.T, target string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, filepath.Join(t.TempDir(), "p.db")) })
	t.Run("postgres", func(t *testing.T) { f(t, postgrestest.DSN(t)) })
}

func TestStatementsForPostgres(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		if got := numbered(query); got != want {
			t.Errorf("%s became %s", query, got)
		}
	}
	f(`SELECT a FROM t INDEXED BY t_a WHERE b = ? AND c = ?`, `SELECT a FROM t WHERE b = $1 AND c = $2`)
	f(`UPDATE t SET a = ?2 WHERE b = ?1 AND c < ?2`, `UPDATE t SET a = $2 WHERE b = $1 AND c < $2`)
	got := postgresSchema("CREATE TABLE t (\n  seq INTEGER PRIMARY KEY AUTOINCREMENT,\n  n INTEGER NOT NULL,\n  b BLOB\n) STRICT")
	if diff := cmp.Diff("CREATE TABLE t (\n  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,\n  n BIGINT NOT NULL,\n  b BYTEA\n)", got); diff != "" {
		t.Error(diff)
	}
}

func TestRedacted(t *testing.T) {
	for target, want := range map[string]string{
		"postgres://u:secret@h/d": "postgres://u:xxxxx@h/d", "/var/lib/p.db": "/var/lib/p.db", "postgres:///d?host=/run": "postgres:///d?host=/run",
	} {
		if got := Redacted(target); got != want {
			t.Errorf("%s became %s", target, got)
		}
	}
	_, err := Open(t.Context(), "postgres://u:secret@127.0.0.1:1/d?connect_timeout=1", Options{})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// What a provider or a client sends is text that a database may not be able to hold.
func TestTextThatNoDatabaseHolds(t *testing.T) {
	both(t, func(t *testing.T, target string) {
		s := open(t, target)
		if err := s.Update(t.Context(), "put", func(tx *Tx) error {
			_, err := tx.CreateAllocation(Allocation{ID: "a-1", Pool: "p\x00q", Image: "i\xff", RequestedBy: "alice"})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.View(t.Context(), "get", func(tx *Tx) error {
			a, err := tx.Allocation("a-1")
			if a.Pool != "p\uFFFDq" || a.Image != "i\uFFFD" {
				t.Errorf("%q %q", a.Pool, a.Image)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// Two processes that start on one new database migrate it once.
func TestMigrateAtTheSameTime(t *testing.T) {
	target := postgrestest.DSN(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := Open(context.Background(), target, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			_ = s.Close()
		})
	}
	all.Wait()
}

// Of many that place at once, from two processes, each gets a node of its own.
func TestPlacementAtTheSameTime(t *testing.T) {
	both(t, func(t *testing.T, target string) {
		stores := []*Store{open(t, target)}
		if stores[0].dialect.shared {
			stores = append(stores, open(t, target))
		}
		const nodes = 24
		update := func(s *Store, f func(*Tx) error) error { return s.Update(context.Background(), "test", f) }
		for i := range nodes {
			id := fmt.Sprintf("%02d", i)
			if err := update(stores[0], func(tx *Tx) error {
				if err := tx.RegisterNode("n-"+id, "p"); err != nil {
					return err
				}
				n, err := tx.Node("n-" + id)
				if err != nil {
					return err
				}
				if _, err := tx.CreateAllocation(Allocation{ID: "a-" + id, Pool: "p"}); err != nil {
					return err
				}
				return tx.OpenInstance(&n, "ni-"+id, "boot", "host")
			}); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for i := range nodes {
			all.Go(func() {
				err := update(stores[i%len(stores)], func(tx *Tx) error {
					a, err := tx.Allocation(fmt.Sprintf("a-%02d", i))
					if err != nil {
						return err
					}
					n, err := tx.FreeNode("p")
					if err != nil {
						return err
					}
					return tx.Reserve(&n, &a)
				})
				if err != nil {
					t.Error(i, err)
				}
			})
		}
		all.Wait()
		used := map[string]bool{}
		if err := stores[0].View(context.Background(), "nodes", func(tx *Tx) error {
			nodes, err := tx.Nodes()
			for _, n := range nodes {
				used[n.AllocationID] = true
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if len(used) != nodes || used[""] {
			t.Errorf("%d of %d allocations have a node", len(used), nodes)
		}
	})
}

// A commit of one process wakes those who wait in another.
func TestCommitsWakeOtherReplicas(t *testing.T) {
	target := postgrestest.DSN(t)
	one, two := open(t, target), open(t, target)
	woken := 0 // once it is because the other one has begun to listen
	for range 60 {
		changed := two.Changed(Outbox)
		if err := one.Update(t.Context(), "put", func(tx *Tx) error { _, err := tx.PutOutbox("s", "a-1", "{}"); return err }); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
			if woken++; woken == 3 {
				return
			}
		case <-time.After(time.Second):
		}
	}
	t.Fatalf("woken %d times", woken)
}

// Thousands of messages that were written just now are leased in no time, each once, the earliest of each
// allocation first.
func TestLeasingManyMessages(t *testing.T) {
	s := open(t, postgrestest.DSN(t))
	const allocations = 4000
	for range 10 { // each connection has a plan by now, made for an empty table
		if _, err := s.DueMessages(t.Context(), time.Hour, 250); err != nil {
			t.Fatal(err)
		}
	}
	for batch := range 8 {
		if err := s.Update(t.Context(), "put", func(tx *Tx) error {
			for i := range allocations / 4 {
				if _, err := tx.PutOutbox("s", fmt.Sprintf("a-%d", (batch%4)*allocations/4+i), "{}"); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	began := time.Now()
	for {
		due, err := s.DueMessages(t.Context(), time.Hour, 250)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range due {
			if seen[m.AllocationID] {
				t.Fatalf("a second message of %s", m.AllocationID)
			}
			seen[m.AllocationID] = true
		}
		if len(due) == 0 {
			break
		}
	}
	if took := time.Since(began); len(seen) != allocations || took > time.Minute {
		t.Errorf("%d leased in %s", len(seen), took)
	}
	t.Log(time.Since(began))
}
