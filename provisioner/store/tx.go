package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Tx is one transaction. Its methods act for the caller's context: events that they cause carry its
// identifiers and its span.
type Tx struct {
	ctx        context.Context
	store      *Store
	tx         *sql.Tx
	conn       *sql.Conn // that of tx
	writes     bool
	locked     string // the allocation that nobody else may change
	records    []telemetry.Record
	after      []func() // done after the commit
	touched    []change
	refused    []refusal
	dryRun     bool // it is only tried
	statements int
}

// Update runs f in a transaction that may write; an error from f rolls it back. group names the
// statements in telemetry. Where several write at a time, a transaction that loses against another one
// is rolled back and f is run again: what f does outside of the transaction must bear that.
func (s *Store) Update(ctx context.Context, group string, f func(*Tx) error) error {
	return s.run(ctx, s.writer, group, f)
}

// View runs f in a transaction that only reads.
func (s *Store) View(ctx context.Context, group string, f func(*Tx) error) error {
	return s.run(ctx, s.reader, group, f)
}

// Tries of a transaction that loses against others, and the longest wait before the first of them is
// repeated; it grows with each.
const (
	tries   = 12
	backoff = 5 * time.Millisecond
)

func (s *Store) run(ctx context.Context, db *sql.DB, group string, f func(*Tx) error) error {
	began := s.options.Now()
	inner := ctx
	var span *telemetry.Span
	if telemetry.SpanOf(ctx).Valid() { // polls that nobody asked for make no trace
		inner, span = s.options.DB.Start(ctx, group, telemetry.Server,
			slog.String(semconv.DBSystem, s.dialect.system), slog.String("db.namespace", "provisioner"), slog.String("db.query.summary", group))
	}
	defer span.End()
	t, err := s.attempts(ctx, inner, db, f)
	s.report(t)
	span.Set(slog.Int("db.operation.batch.size", t.statements))
	if took := s.options.Now().Sub(began); s.options.Slow > 0 && took > s.options.Slow {
		s.options.DB.Log(inner, telemetry.Warn, fmt.Sprintf("slow transaction %s: %d ms, %d statements", group, took.Milliseconds(), t.statements),
			slog.String(semconv.DBSystem, s.dialect.system), slog.String("db.query.summary", group), slog.Int64("duration_ms", took.Milliseconds()))
	}
	if err == nil {
		t.emitRecords()
		for _, do := range t.after {
			do()
		}
		s.topics.notify(t.touched)
		if s.notifier != nil && len(t.touched) > 0 {
			s.notifier.notify(t.touched)
		}
		return nil
	}
	if broken(err) {
		span.Fail(err, "db")
		s.options.DB.Log(inner, telemetry.Error, fmt.Sprintf("transaction %s: %v", group, err),
			slog.String(semconv.DBSystem, s.dialect.system), slog.String("db.query.summary", group), slog.String(semconv.ErrorType, "db"))
	}
	return fmt.Errorf("%s: %w", group, err)
}

// attempts runs the transaction until it is done or its error is its own. outer is the caller's context,
// which events carry; inner has the transaction's span.
func (s *Store) attempts(outer, inner context.Context, db *sql.DB, f func(*Tx) error) (t *Tx, err error) {
	for try := 1; ; try++ {
		t = &Tx{ctx: outer, store: s, writes: db == s.writer}
		if err = t.run(inner, db, f); err == nil || !s.dialect.retryable(err) {
			return t, err
		}
		if try == tries {
			return t, tooOften(err)
		}
		select {
		case <-outer.Done():
			return t, outer.Err()
		case <-time.After(rand.N(time.Duration(try) * backoff)):
		}
	}
}

func (t *Tx) run(ctx context.Context, db *sql.DB, f func(*Tx) error) (err error) {
	if t.tx, t.conn, err = t.store.begin(ctx, db); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = t.conn.Close() }()
	defer func() { _ = t.tx.Rollback() }() // after a commit it does nothing
	if err := f(t); err != nil {
		return err
	}
	if err := t.writeJournal(); err != nil {
		return err
	}
	if err := t.tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// broken reports whether an error is the database's own: not a refusal, not a missing row, not a caller
// that went away, not a dry run.
func broken(err error) bool {
	var refused *lifecycle.Refusal
	return !errors.As(err, &refused) && !errors.Is(err, ErrNotFound) && !errors.Is(err, context.Canceled) && !errors.Is(err, errDryRun)
}

func (t *Tx) exec(query string, args ...any) (int64, error) {
	t.statements++
	r, err := t.tx.ExecContext(t.ctx, t.store.statements.of(query), bind(args)...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// execLast runs a statement of which only the error is of interest, when nothing but the commit follows it.
func (t *Tx) execLast(query string, args ...any) error {
	t.statements++
	if t.store.dialect.sendLast == nil {
		// Nobody waits for it to be interrupted: watching a context would cost a goroutine.
		_, err := t.tx.ExecContext(context.WithoutCancel(t.ctx), t.store.statements.of(query), bind(args)...)
		return err
	}
	return t.store.dialect.sendLast(t.conn, t.store.statements.of(query), bind(args))
}

func (t *Tx) row(query string, args ...any) *sql.Row {
	t.statements++
	return t.tx.QueryRowContext(t.ctx, t.store.statements.of(query), bind(args)...)
}

// rows calls scan for every row of a query.
func (t *Tx) rows(scan func(*sql.Rows) error, query string, args ...any) error {
	t.statements++
	rows, err := t.tx.QueryContext(t.ctx, t.store.statements.of(query), bind(args)...)
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

// locking is whether this transaction has to keep others away: it writes, and it is not alone.
func (t *Tx) locking() bool { return t.writes && t.store.dialect.shared }

// lockRows has a query lock the rows that it reads; skip leaves out those that others have locked.
func (t *Tx) lockRows(query string, skip bool) string {
	switch {
	case !t.locking():
		return query
	case skip:
		return query + " FOR NO KEY UPDATE SKIP LOCKED"
	}
	return query + " FOR NO KEY UPDATE"
}

// Lock keeps others from changing anything of an allocation until this transaction is over. Allocation,
// Node and Task do it by themselves. An allocation is locked before any node: nobody waits in
// a circle.
func (t *Tx) Lock(allocation string) error {
	if !t.locking() || t.locked == allocation || allocation == "" {
		return nil
	}
	var one int
	err := t.row(t.lockRows(`SELECT 1 FROM allocations WHERE allocation_id = ?`, false), allocation).Scan(&one)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("lock allocation %s: %w", allocation, err)
	}
	if t.locked == "" {
		t.locked = allocation
	}
	return nil
}

// event keeps a lifecycle event of the provisioner for the commit, with the time of the move.
func (t *Tx) event(ctx context.Context, at time.Time, name string, attrs ...slog.Attr) {
	t.record(t.store.options.Emitter.ComposeEvent(ctx, at, name, attrs...))
}

// record keeps a record for the commit. What is rolled back is never emitted.
func (t *Tx) record(r telemetry.Record) {
	if r.IsSet() {
		t.records = append(t.records, r)
	}
}

// Now is the store's clock.
func (t *Tx) Now() time.Time { return t.store.options.Now() }

// After runs f when the transaction has been committed.
func (t *Tx) After(f func()) { t.after = append(t.after, f) }
