package schema

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// ErrChanged says that a migration which was applied has another text in this binary: one of the two
// is not ours. Nothing is applied then.
var ErrChanged = errors.New("recorded migration differs from the one in this binary")

// advice says what to do about ErrChanged: migrations change no more once they are released.
const advice = "these tables were made by a build before the first release, and are left as they are: move the store's folder away, " +
	"or name another database in the DSN, and start again; what was recorded as OTLP can be sent once more"

// Migrate brings the tables of the connection's database up to this binary. It may run in any number
// of processes at once and be killed at any point: statements are idempotent, recorded one by one, and
// applied by one process at a time. Migrations that a newer binary has recorded are left alone.
func Migrate(ctx context.Context, conn driver.Conn, log *slog.Logger) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	return migrate(ctx, conn, log, all, "")
}

// Plan lists what Migrate would apply, without changing anything.
func Plan(ctx context.Context, conn driver.Conn) ([]Migration, error) {
	all, err := migrations()
	if err != nil {
		return nil, err
	}
	return pending(ctx, conn, all)
}

func migrate(ctx context.Context, conn driver.Conn, log *slog.Logger, all []Migration, cluster string) error {
	if todo, err := pending(ctx, conn, all); err != nil || len(todo) == 0 {
		return err // the usual start: nothing to do, no lock needed
	}
	if err := sameKind(ctx, conn, cluster); err != nil {
		return err
	}
	l, err := acquire(ctx, conn, log)
	if err != nil {
		return err
	}
	err = apply(l.ctx, conn, log, l, all, cluster)
	return errors.Join(err, l.release(context.WithoutCancel(ctx)))
}

func apply(ctx context.Context, conn driver.Conn, log *slog.Logger, l *lock, all []Migration, cluster string) error {
	if err := conn.Exec(ctx, record(cluster)); err != nil {
		return fmt.Errorf("create schema_migrations: %w", err)
	}
	todo, err := pending(ctx, conn, all) // again: whoever held the lock before has worked
	if err != nil {
		return err
	}
	for _, m := range todo {
		if err := l.held(ctx); err != nil {
			return err
		}
		statements, err := m.steps(cluster)
		if err != nil {
			return err
		}
		for _, text := range statements {
			if err := conn.Exec(ctx, text); err != nil {
				return fmt.Errorf("apply migration %s: %w", m.Name, err)
			}
		}
		if err := conn.Exec(ctx, insertRecord, m.Name, m.SHA256); err != nil {
			return fmt.Errorf("record migration %s: %w", m.Name, err)
		}
		log.InfoContext(ctx, "migration applied", "migration", m.Name)
	}
	return nil
}

// record is the table of what was applied; on a cluster every server has a copy of the same one.
func record(cluster string) string {
	where, engine := "", "ReplacingMergeTree"
	if cluster != "" {
		where, engine = " ON CLUSTER "+cluster, "ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')"
	}
	return "CREATE TABLE IF NOT EXISTS schema_migrations" + where + `
(name String, sha256 String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
ENGINE = ` + engine + " ORDER BY (name, sha256)"
}

// sameKind refuses to treat a cluster as a server, and a server with tables as a cluster.
func sameKind(ctx context.Context, conn driver.Conn, cluster string) error {
	engines, err := engines(ctx, conn)
	if err != nil {
		return err
	}
	switch was := engines["schema_migrations"]; {
	case strings.HasPrefix(was, "Replicated") && cluster == "":
		return errCluster
	case was != "" && !strings.HasPrefix(was, "Replicated") && cluster != "":
		return errors.New("the database has the tables of a single server: give the cluster a database of its own (docs/cluster.md)")
	}
	return nil
}

const (
	insertRecord = `INSERT INTO schema_migrations (name, sha256) VALUES (?, ?)`
	selectRecord = `SELECT name, sha256 FROM schema_migrations ORDER BY name, applied_at`
)

// pending lists what is not recorded yet, in order.
func pending(ctx context.Context, conn driver.Conn, all []Migration) ([]Migration, error) {
	recorded, err := recorded(ctx, conn)
	if err != nil {
		return nil, err
	}
	var out []Migration
	var changed []error
	for _, m := range all {
		sum, ok := recorded[m.Name]
		switch {
		case !ok:
			out = append(out, m)
		case sum != m.SHA256:
			changed = append(changed, fmt.Errorf("%s: %w (recorded sha256 %.12s…, here %.12s…)", m.Name, ErrChanged, sum, m.SHA256))
		}
	}
	if len(changed) > 0 {
		return nil, fmt.Errorf("%w\n%s", errors.Join(changed...), advice)
	}
	return out, nil
}

func recorded(ctx context.Context, conn driver.Conn) (map[string]string, error) {
	var n uint64
	if err := conn.QueryRow(ctx, `SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'`).Scan(&n); err != nil {
		return nil, fmt.Errorf("look for schema_migrations: %w", err)
	}
	if n == 0 {
		return nil, nil
	}
	rows, err := conn.Query(ctx, selectRecord)
	if err != nil {
		return nil, fmt.Errorf("read schema_migrations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]string{}
	for rows.Next() {
		var name, sum string
		if err := rows.Scan(&name, &sum); err != nil {
			return nil, fmt.Errorf("read schema_migrations: %w", err)
		}
		out[name] = sum
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read schema_migrations: %w", err)
	}
	return out, nil
}
