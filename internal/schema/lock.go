package schema

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// ClickHouse has no advisory locks, but CREATE TABLE without IF NOT EXISTS succeeds for exactly one of
// many. So the lock is a table, and its generations are numbered:
//
//	schema_lock_7   comment "held by host/123", metadata_modification_time moves with every beat
//	schema_lock_8   whoever creates it takes over, because 7 was released or has stopped beating
//
// Only the highest number counts; the holder removes the lower ones and never its own, so that a number
// is not used twice. Ages are measured by the store's clock alone. A holder that was stopped and wakes
// up finds a higher number before its next statement and gives up; the one statement that it may still
// have under way is idempotent.
const (
	lockPrefix   = "schema_lock_"
	lockReleased = "released"

	tableExists = 57 // ClickHouse's error code
)

// Times of the lock. A holder that misses seven beats is taken for dead.
const (
	beat  = 2 * time.Second
	stale = 15 * time.Second
	look  = 200 * time.Millisecond // between two looks at a lock that another holds
)

// errLockLost says that another process took the lock over, because this one had stopped beating.
var errLockLost = errors.New("schema lock was taken over")

type lock struct {
	conn    driver.Conn
	number  int
	ctx     context.Context // ends when the lock is lost or the caller's context ends
	cancel  context.CancelCauseFunc
	stopped chan struct{} // the beating goroutine has ended
}

// acquire waits until the lock is ours or ctx ends.
func acquire(ctx context.Context, conn driver.Conn, log *slog.Logger) (*lock, error) {
	holder := "held by " + name()
	told := ""
	for {
		number, comment, age, err := top(ctx, conn)
		if err != nil {
			return nil, err
		}
		if number == 0 || comment == lockReleased || age >= stale {
			switch err := create(ctx, conn, number+1, holder); {
			case err == nil:
				l := &lock{conn: conn, number: number + 1, stopped: make(chan struct{})}
				l.ctx, l.cancel = context.WithCancelCause(ctx)
				if err := l.held(ctx); err == nil {
					l.sweep(ctx)
					go l.beat()
					return l, nil
				}
				l.drop(ctx, l.number) // another was two steps ahead
			case !IsCode(err, tableExists):
				return nil, fmt.Errorf("create %s%d: %w", lockPrefix, number+1, err)
			}
		} else if comment != told {
			log.InfoContext(ctx, "another process migrates the store", "holder", comment)
			told = comment
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the schema lock: %w", ctx.Err())
		case <-time.After(look):
		}
	}
}

func create(ctx context.Context, conn driver.Conn, number int, comment string) error {
	return conn.Exec(ctx, fmt.Sprintf("CREATE TABLE %s%d (n UInt8) ENGINE = MergeTree ORDER BY n COMMENT %s", lockPrefix, number, literal(comment)))
}

// top reads the highest generation; 0 where there is none.
func top(ctx context.Context, conn driver.Conn) (number int, comment string, age time.Duration, err error) {
	rows, err := conn.Query(ctx, `SELECT name, comment, toInt64(dateDiff('second', metadata_modification_time, now()))
FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'schema_lock_')`)
	if err != nil {
		return 0, "", 0, fmt.Errorf("read schema locks: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var table, c string
		var seconds int64
		if err := rows.Scan(&table, &c, &seconds); err != nil {
			return 0, "", 0, fmt.Errorf("read schema locks: %w", err)
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(table, lockPrefix)); err == nil && n > number {
			number, comment, age = n, c, time.Duration(seconds)*time.Second
		}
	}
	if err := rows.Err(); err != nil {
		return 0, "", 0, fmt.Errorf("read schema locks: %w", err)
	}
	return number, comment, age, nil
}

// held says whether the lock is still ours.
func (l *lock) held(ctx context.Context) error {
	number, _, _, err := top(ctx, l.conn)
	if err != nil {
		return err
	}
	if number != l.number {
		return errLockLost
	}
	return nil
}

// beat shows that the holder lives, until release.
func (l *lock) beat() {
	defer close(l.stopped)
	t := time.NewTicker(beat)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-l.ctx.Done():
			return
		case <-t.C:
		}
		if err := l.held(l.ctx); errors.Is(err, errLockLost) {
			l.cancel(err)
			return
		}
		// An error here is no reason to stop: the next beat may get through, and if none does, the
		// lock goes stale, which held notices.
		_ = l.comment(l.ctx, fmt.Sprintf("held by %s, beat %d", name(), n))
	}
}

func (l *lock) release(ctx context.Context) error {
	lost := errors.Is(context.Cause(l.ctx), errLockLost)
	l.cancel(nil)
	<-l.stopped
	if lost {
		return errLockLost
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := l.comment(ctx, lockReleased); err != nil {
		return fmt.Errorf("release the schema lock: %w", err)
	}
	return nil
}

func (l *lock) comment(ctx context.Context, text string) error {
	return l.conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s%d MODIFY COMMENT %s", lockPrefix, l.number, literal(text)))
}

// sweep removes the generations before ours; what stays behind does no harm.
func (l *lock) sweep(ctx context.Context) {
	for n := l.number - 1; n > 0 && n >= l.number-8; n-- {
		l.drop(ctx, n)
	}
}

func (l *lock) drop(ctx context.Context, number int) {
	_ = l.conn.Exec(ctx, fmt.Sprintf("DROP TABLE IF EXISTS %s%d", lockPrefix, number))
}

// name is who we are, for the people who look at a lock.
func name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
