package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that the database does not have yet, each in a transaction of its
// own. One that was applied in another form than the embedded one stops the start.
func (s *Store) migrate(ctx context.Context, now time.Time) error {
	if err := s.apply(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.dialect.schema(`CREATE TABLE IF NOT EXISTS migrations (
			name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`))
		return err
	}); err != nil {
		return fmt.Errorf("create table of migrations: %w", err)
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range files {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		if err := s.apply(ctx, func(tx *sql.Tx) error { return s.migration(ctx, tx, name, string(text), now) }); err != nil {
			return fmt.Errorf("apply %s: %w", name, err)
		}
	}
	return nil
}

// apply runs f in a transaction that no other process is in.
func (s *Store) apply(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := s.dialect.lock(tx); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *Store) migration(ctx context.Context, tx *sql.Tx, name, text string, now time.Time) error {
	sum := sha256.Sum256([]byte(text))
	checksum := hex.EncodeToString(sum[:])
	var have string
	switch err := tx.QueryRowContext(ctx, s.statements.of(`SELECT checksum FROM migrations WHERE name = ?`), name).Scan(&have); {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case have != checksum:
		return errors.New("was applied in another form; migrations are never edited")
	default:
		return nil
	}
	if _, err := tx.ExecContext(ctx, s.dialect.schema(text)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, s.statements.of(`INSERT INTO migrations VALUES (?, ?, ?)`), name, checksum, now.UnixNano())
	return err
}
