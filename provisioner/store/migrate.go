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
func migrate(ctx context.Context, db *sql.DB, now time.Time) error {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (
		name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`); err != nil {
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
		if err := apply(ctx, db, name, string(text), now); err != nil {
			return fmt.Errorf("apply %s: %w", name, err)
		}
	}
	return nil
}

func apply(ctx context.Context, db *sql.DB, name, text string, now time.Time) error {
	sum := sha256.Sum256([]byte(text))
	checksum := hex.EncodeToString(sum[:])
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var have string
	switch err := tx.QueryRowContext(ctx, `SELECT checksum FROM migrations WHERE name = ?`, name).Scan(&have); {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case have != checksum:
		return errors.New("was applied in another form; migrations are never edited")
	default:
		return nil
	}
	if _, err := tx.ExecContext(ctx, text); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, ?, ?)`, name, checksum, now.UnixNano()); err != nil {
		return err
	}
	return tx.Commit()
}
