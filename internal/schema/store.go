package schema

import (
	"context"
	"log/slog"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Store is a store for those who look after it rather than read or write it.
type Store struct{ conn driver.Conn }

// OpenStore gives a store that answers before ctx ends.
func OpenStore(ctx context.Context, dsn string) (*Store, error) {
	conn, err := Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &Store{conn: conn}, nil
}

// Close ends its connections.
func (s *Store) Close() error { return s.conn.Close() }

// Step is a migration with the statements that it is here: itself, or what it becomes on a cluster.
type Step struct {
	Name       string
	Statements []string
}

// Pending lists what Migrate would apply. cluster is "" for a single server.
func (s *Store) Pending(ctx context.Context, cluster string) ([]Step, error) {
	todo, err := Plan(ctx, s.conn)
	if err != nil {
		return nil, err
	}
	steps := make([]Step, 0, len(todo))
	for _, m := range todo {
		statements, err := m.steps(cluster)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{Name: m.Name, Statements: statements})
	}
	return steps, nil
}

// Migrate brings the tables up to this binary.
func (s *Store) Migrate(ctx context.Context, log *slog.Logger, cluster string) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	return migrate(ctx, s.conn, log, all, cluster)
}

// Retain sets for how long evidence is kept; see the function Retain.
func (s *Store) Retain(ctx context.Context, log *slog.Logger, r Retention, cluster string, dry bool) ([]string, error) {
	return retain(ctx, s.conn, log, r, cluster, dry)
}

// Stats says what the store holds.
func (s *Store) Stats(ctx context.Context) (Stats, error) { return readStats(ctx, s.conn) }
