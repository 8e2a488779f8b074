package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// ErrNotFound is the error of a row that does not exist.
var ErrNotFound = errors.New("not found")

// Options are what a store needs beside its file.
type Options struct {
	DB    *telemetry.Source // speaks for the database; nil: silent
	Says  *telemetry.Source // speaks for the provisioner: lifecycle events
	Relay *telemetry.Source // speaks for the outbox
	Slow  time.Duration     // a transaction that takes longer is logged; 0: never
	Now   func() time.Time  // nil: time.Now
}

// Store is safe for use by several goroutines. Writers take turns.
type Store struct {
	writer, reader *sql.DB
	options        Options
	topics         topics
}

// Open opens the database file, makes it where it is missing, and brings its schema up to date.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	// synchronous(FULL): what a client was told survives a power cut.
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}}
	file := (&url.URL{Scheme: "file", Opaque: url.PathEscape(path)}).String()
	writer, err := sql.Open("sqlite", file+"?"+pragmas.Encode()+"&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	writer.SetMaxOpenConns(1)
	if err := migrate(ctx, writer, o.Now()); err != nil {
		_ = writer.Close()
		return nil, fmt.Errorf("migrate %s: %w", path, err)
	}
	pragmas.Add("_pragma", "query_only(1)")
	reader, err := sql.Open("sqlite", file+"?"+pragmas.Encode())
	if err != nil {
		_ = writer.Close()
		return nil, fmt.Errorf("open %s for reading: %w", path, err)
	}
	reader.SetMaxOpenConns(4)
	s := &Store{writer: writer, reader: reader, options: o}
	s.topics.init()
	return s, nil
}

// Close waits for transactions in flight.
func (s *Store) Close() error { return errors.Join(s.reader.Close(), s.writer.Close()) }

// Ping is a readiness check.
func (s *Store) Ping(ctx context.Context) error {
	var n int
	return s.reader.QueryRowContext(ctx, `SELECT count(*) FROM migrations`).Scan(&n)
}

// Now is the store's clock.
func (s *Store) Now() time.Time { return s.options.Now() }

// Tx is one transaction. Its methods act for the caller's context: events that they cause carry its
// identifiers and its span.
type Tx struct {
	ctx        context.Context
	store      *Store
	tx         *sql.Tx
	after      []func() // done after the commit
	touched    []Topic
	statements int
}

// Update runs f in a transaction that may write; an error from f rolls it back. group names the
// statements in telemetry.
func (s *Store) Update(ctx context.Context, group string, f func(*Tx) error) error {
	return s.run(ctx, s.writer, group, f)
}

// View runs f in a transaction that only reads.
func (s *Store) View(ctx context.Context, group string, f func(*Tx) error) error {
	return s.run(ctx, s.reader, group, f)
}

func (s *Store) run(ctx context.Context, db *sql.DB, group string, f func(*Tx) error) error {
	began := s.options.Now()
	inner := ctx
	var span *telemetry.Span
	if telemetry.SpanOf(ctx).Valid() { // polls that nobody asked for make no trace
		inner, span = s.options.DB.Start(ctx, group, telemetry.Server,
			slog.String(semconv.DBSystem, "sqlite"), slog.String("db.namespace", "provisioner"), slog.String("db.query.summary", group))
	}
	defer span.End()
	t := &Tx{ctx: ctx, store: s}
	err := t.run(inner, db, f)
	span.Set(slog.Int("db.operation.batch.size", t.statements))
	if took := s.options.Now().Sub(began); s.options.Slow > 0 && took > s.options.Slow {
		s.options.DB.Log(inner, telemetry.Warn, fmt.Sprintf("slow transaction %s: %d ms, %d statements", group, took.Milliseconds(), t.statements),
			slog.String(semconv.DBSystem, "sqlite"), slog.String("db.query.summary", group), slog.Int64("duration_ms", took.Milliseconds()))
	}
	if err == nil {
		for _, say := range t.after {
			say()
		}
		s.topics.notify(t.touched)
		return nil
	}
	if broken(err) {
		span.Fail(err, "db")
		s.options.DB.Log(inner, telemetry.Error, fmt.Sprintf("transaction %s: %v", group, err),
			slog.String(semconv.DBSystem, "sqlite"), slog.String("db.query.summary", group), slog.String(semconv.ErrorType, "db"))
	}
	return fmt.Errorf("%s: %w", group, err)
}

func (t *Tx) run(ctx context.Context, db *sql.DB, f func(*Tx) error) (err error) {
	if t.tx, err = db.BeginTx(ctx, nil); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = t.tx.Rollback() }() // after a commit it does nothing
	if err := f(t); err != nil {
		return err
	}
	if err := t.tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// broken says whether an error is the database's own: not a refusal, not a missing row, not a caller
// that went away, not a rehearsal.
func broken(err error) bool {
	var refused *lifecycle.Refusal
	return !errors.As(err, &refused) && !errors.Is(err, ErrNotFound) && !errors.Is(err, context.Canceled) && !errors.Is(err, errRehearsed)
}

func (t *Tx) exec(query string, args ...any) (int64, error) {
	t.statements++
	r, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t *Tx) row(query string, args ...any) *sql.Row {
	t.statements++
	return t.tx.QueryRowContext(t.ctx, query, args...)
}

// rows calls scan for every row of a query.
func (t *Tx) rows(scan func(*sql.Rows) error, query string, args ...any) error {
	t.statements++
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// say has the provisioner tell an event after the commit, at the time of the move.
func (t *Tx) say(ctx context.Context, at time.Time, name string, attrs ...slog.Attr) {
	source := t.store.options.Says
	t.after = append(t.after, func() { source.EventAt(ctx, at, name, attrs...) })
}

// Now is the store's clock.
func (t *Tx) Now() time.Time { return t.store.options.Now() }

// After runs f when the transaction has been committed.
func (t *Tx) After(f func()) { t.after = append(t.after, f) }

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

func found(what, id string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s %s: %w", what, id, ErrNotFound)
	}
	return err
}
