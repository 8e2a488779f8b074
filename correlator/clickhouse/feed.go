package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/internal/record"
)

var (
	_ live.Feed   = (*Library)(nil)
	_ live.Roster = (*Library)(nil)
)

// Arrivals implements live.Feed.
func (l *Library) Arrivals(ctx context.Context, after live.Mark, most int) ([]*record.Record, live.Mark, error) {
	found, err := l.records(ctx, "arrivals", params{"since": moment(after.Ingested), "key": after.Key, "most": most})
	if err != nil {
		return nil, after, fmt.Errorf("read arrivals: %w", err)
	}
	if n := len(found); n > 0 {
		after = live.Mark{Ingested: found[n-1].Ingested, Key: found[n-1].Key()[:16]} // as the column holds it
	}
	return found, after, nil
}

// Renew implements live.Roster.
func (l *Library) Renew(ctx context.Context, replica string) error { return l.lease(ctx, replica, 0) }

// Leave implements live.Roster.
func (l *Library) Leave(ctx context.Context, replica string) error { return l.lease(ctx, replica, 1) }

// lease leaves seen_at to the server's clock.
func (l *Library) lease(ctx context.Context, replica string, gone uint8) error {
	if err := l.conn.Exec(ctx, "INSERT INTO replicas (replica, gone) VALUES (?, ?)", replica, gone); err != nil {
		return fmt.Errorf("write the lease of %s: %w", replica, err)
	}
	return nil
}

// Live implements live.Roster.
func (l *Library) Live(ctx context.Context, lease time.Duration) ([]string, error) {
	rows, err := l.query(ctx, "replicas_live", params{"lease": lease.Milliseconds()})
	if err != nil {
		return nil, fmt.Errorf("read leases: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var replica string
		if err := rows.Scan(&replica); err != nil {
			return nil, fmt.Errorf("read leases: %w", err)
		}
		out = append(out, replica)
	}
	return out, rows.Err()
}
