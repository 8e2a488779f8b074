package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// ErrNotFound is the error of a row that does not exist.
var ErrNotFound = errors.New("not found")

// Options are what a store needs beside its database.
type Options struct {
	DB      *telemetry.Emitter // speaks for the database; nil: silent
	Emitter *telemetry.Emitter // speaks for the provisioner: lifecycle events
	Relay   *telemetry.Emitter // speaks for the outbox

	// Journal keeps the records of transactions in the database until they are shipped (package journal). Without it
	// they are emitted after the commit, and lost where the process ends before they are sent.
	Journal bool

	PoolWait time.Duration // for a free connection; 0: as long as its caller

	Slow time.Duration    // a transaction that takes longer is logged; 0: never
	Now  func() time.Time // nil: time.Now
}

// Store is safe for use by several goroutines.
type Store struct {
	dialect        *dialect
	target         string
	statements     statements
	writer, reader *sql.DB
	options        Options
	topics         topics
	refusals       refusals
	notifier       notifier // nil: only this process changes anything
}

// Open opens a database and brings its schema up to date. target is the path of an SQLite file, which is
// made where it is missing, or the DSN of a PostgreSQL database, postgres://user:password@host/name.
func Open(ctx context.Context, target string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := dialectOf(target)
	writer, reader, err := d.open(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", Redacted(target), err)
	}
	s := &Store{dialect: d, target: target, statements: statements{dialect: d}, writer: writer, reader: reader, options: o}
	s.topics.init()
	if err := s.migrate(ctx, o.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate %s: %w", Redacted(target), err), s.Close())
	}
	if d.listen != nil {
		if s.notifier, err = d.listen(ctx, s); err != nil {
			return nil, errors.Join(fmt.Errorf("listen on %s: %w", Redacted(target), err), s.Close())
		}
	}
	return s, nil
}

// Close waits for transactions in flight.
func (s *Store) Close() error {
	if s.notifier != nil {
		s.notifier.close()
	}
	return errors.Join(s.reader.Close(), s.writer.Close())
}

// Ping is a readiness check.
func (s *Store) Ping(ctx context.Context) error {
	var n int
	return s.reader.QueryRowContext(ctx, `SELECT count(*) FROM migrations`).Scan(&n)
}

// Now is the store's clock.
func (s *Store) Now() time.Time { return s.options.Now() }

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func wrapNotFound(what, id string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s %s: %w", what, id, ErrNotFound)
	}
	return err
}
