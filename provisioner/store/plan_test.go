package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// What is polled must not grow with what is over: every table is reached through an index.
func TestPolledQueriesUseIndexes(t *testing.T) {
	s, err := Open(context.Background(), filepath.Join(t.TempDir(), "p.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for name, query := range map[string]string{
		"runnable workflows": runnableWorkflows, "next task": nextTask, "overdue tasks": overdueTasks,
		"free node": freeNode, "list": listAllocations, "due messages": dueMessages,
	} {
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
			}, "EXPLAIN QUERY PLAN "+query, 1, 2, 3, 4)
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
