package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/postgrestest"
)

// polled are the statements that run all the time, with arguments of the right types.
var polled = map[string]struct {
	query string
	args  []any
}{
	"runnable workflows": {runnableWorkflows, []any{1, 10}},
	"next task":          {nextTask, []any{"n-1", 1}},
	"overdue tasks":      {overdueTasks, []any{1}},
	"free node":          {freeNode, []any{"p"}},
	"list":               {listAllocations, []any{"active", 0, "a-1", 10}},
	"due messages":       {dueMessages, []any{1, 10}},
	"oldest journal":     {oldestJournal, []any{10}},
}

func open(t *testing.T, target string) *Store {
	t.Helper()
	s, err := Open(t.Context(), target, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// What is polled must not grow with what is over: every table is reached through an index.
func TestPolledQueriesUseIndexes(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "p.db"))
	for name, p := range polled {
		err := s.View(context.Background(), "plan", func(tx *Tx) error {
			return tx.rows(func(r *sql.Rows) error {
				var id, parent, unused int
				var detail string
				if err := r.Scan(&id, &parent, &unused, &detail); err != nil {
					return err
				}
				t.Log(name, ":", detail)
				if strings.HasPrefix(detail, "SCAN") && !strings.Contains(detail, "USING") && detail != "SCAN CONSTANT ROW" {
					t.Errorf("%s: %s", name, detail)
				}
				return nil
			}, "EXPLAIN QUERY PLAN "+p.query, p.args...)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// PostgreSQL scans small tables whatever indexes they have, so scans are made dear: what is scanned then
// has no index that serves.
func TestPolledQueriesUseIndexesOnPostgres(t *testing.T) {
	s := open(t, postgrestest.DSN(t))
	for name, p := range polled {
		err := s.Update(context.Background(), "plan", func(tx *Tx) error {
			if _, err := tx.exec(`SET LOCAL enable_seqscan = off`); err != nil {
				return err
			}
			return tx.rows(func(r *sql.Rows) error {
				var line string
				if err := r.Scan(&line); err != nil {
					return err
				}
				t.Log(name, ":", line)
				if strings.Contains(line, "Seq Scan") {
					t.Errorf("%s: %s", name, line)
				}
				return nil
			}, "EXPLAIN "+p.query, p.args...)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
