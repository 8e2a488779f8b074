package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // driver "sqlite"
)

// databaseFile is the provisioner's, in the lab's data folder.
func (c Config) databaseFile() string { return filepath.Join(c.Data, "provisioner.db") }

func dbFaults() []Fault {
	return []Fault{
		{
			Name: "db_lock", Layer: "db", Mechanism: "lock", Expected: expectAttributed, ShowsIn: []string{"db", "workflow", "api", "client"}, meets: byWork,
			Description: "somebody holds the database's write lock in a transaction that does not end",
			inject: func(l *lab, _ target) (func() error, error) {
				db, err := l.openDatabase()
				if err != nil {
					return nil, err
				}
				ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
				defer cancel()
				c, err := db.Conn(ctx)
				if err == nil {
					_, err = c.ExecContext(ctx, "BEGIN IMMEDIATE")
				}
				if err != nil {
					return nil, errors.Join(fmt.Errorf("lock the database: %w", err), db.Close())
				}
				return func() error {
					_, err := c.ExecContext(context.Background(), "ROLLBACK")
					return errors.Join(err, c.Close(), db.Close())
				}, nil
			},
		},
		{
			Name: "duplicate_launch", Layer: "workflow", Mechanism: "duplicate_launch", Expected: expectAttributed, ShowsIn: []string{"workflow", "provider"},
			Description: "what was written of a launch is lost, as by a crash before the write: the job is launched again while the first one runs",
			meets:       byAAP, story: "aap_healthy", providers: true,
			inject: func(l *lab, _ target) (func() error, error) {
				db, err := l.openDatabase()
				if err != nil {
					return nil, err
				}
				ctx, stop := context.WithCancel(context.Background())
				var work sync.WaitGroup
				work.Go(func() { l.forgetLaunches(ctx, db) })
				return func() error {
					stop()
					work.Wait()
					return db.Close()
				}, nil
			},
		},
	}
}

func (l *lab) openDatabase() (*sql.DB, error) {
	file := (&url.URL{Scheme: "file", Opaque: url.PathEscape(l.config.databaseFile())}).String()
	return sql.Open("sqlite", file+"?mode=rw&_pragma=busy_timeout(5000)")
}

// forgetLaunches takes back, once for each job, what was written of its launch while it runs.
func (l *lab) forgetLaunches(ctx context.Context, db *sql.DB) {
	done := map[string]bool{}
	for ; ctx.Err() == nil; pause(ctx, l.config.scaled(200*time.Millisecond)) {
		key, job := "", ""
		err := db.QueryRowContext(ctx, `SELECT job_key, job_id FROM provider_jobs WHERE provider = 'aap' AND operation = 'provision' AND phase = 'following'
			AND state = 'Running' AND cancel_at = 0 ORDER BY created_at DESC LIMIT 1`).Scan(&key, &job)
		if err != nil || done[key] {
			if err != nil && !errors.Is(err, sql.ErrNoRows) && ctx.Err() == nil {
				l.log.Warn("look for launches", "error", err)
			}
			continue
		}
		done[key] = true
		if _, err := db.ExecContext(ctx, `UPDATE provider_jobs SET phase = 'wanted', job_id = '', kind = '', state = '', raw = '', lease = 'lost', due_at = ? WHERE job_key = ?`,
			time.Now().UnixNano(), key); err != nil && ctx.Err() == nil {
			l.log.Warn("forget launch", "error", err)
		}
	}
}
