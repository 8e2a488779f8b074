package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

var (
	_ live.Feed       = (*Reader)(nil)
	_ live.Membership = (*Reader)(nil)
	_ live.Backlog    = (*Reader)(nil)
)

// Arrivals implements live.Feed.
func (l *Reader) Arrivals(ctx context.Context, after live.Mark, most int) ([]*record.Record, live.Mark, error) {
	found, err := l.records(ctx, "arrivals", params{"since": moment(after.Ingested), "key": after.Key, "most": most})
	if err != nil {
		return nil, after, fmt.Errorf("read arrivals: %w", err)
	}
	if n := len(found); n > 0 {
		after = live.MarkOf(found[n-1])
	}
	return found, after, nil
}

// Marks implements live.Feed.
func (l *Reader) Marks(ctx context.Context, from, to int64) ([]live.Mark, error) {
	rows, err := l.query(ctx, "arrival_marks", params{"from": moment(from), "to": moment(to)})
	if err != nil {
		return nil, fmt.Errorf("read marks of arrivals: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []live.Mark
	for rows.Next() {
		var m live.Mark
		if err := rows.Scan(&m.Ingested, &m.Key); err != nil {
			return nil, fmt.Errorf("read marks of arrivals: %w", err)
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

// Fetch implements live.Feed.
func (l *Reader) Fetch(ctx context.Context, marks []live.Mark) ([]*record.Record, error) {
	if len(marks) == 0 {
		return nil, nil
	}
	from, to := marks[0].Ingested, marks[0].Ingested
	keys, wanted := make([]string, len(marks)), make(map[live.Mark]bool, len(marks))
	for i, m := range marks {
		from, to = min(from, m.Ingested), max(to, m.Ingested)
		keys[i], wanted[m] = quoted(m.Key), true
	}
	found, err := l.records(ctx, "arrivals_of", params{"from": moment(from), "to": moment(to), "keys": "[" + strings.Join(keys, ",") + "]"})
	if err != nil {
		return nil, fmt.Errorf("read late arrivals: %w", err)
	}
	return slices.DeleteFunc(found, func(r *record.Record) bool { return !wanted[live.MarkOf(r)] }), nil
}

// Now implements live.Feed.
func (l *Reader) Now(ctx context.Context) (time.Time, error) {
	at, _, err := l.moment(ctx, "now", nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the store's clock: %w", err)
	}
	return at, nil
}

// moment is the answer to a statement that gives one time; ok is false where it gives none.
func (l *Reader) moment(ctx context.Context, name string, p params) (at time.Time, ok bool, err error) {
	rows, err := l.query(ctx, name, p)
	if err != nil {
		return at, false, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one *time.Time
		if err := rows.Scan(&one); err != nil {
			return at, false, err
		}
		if one != nil {
			at, ok = *one, true
		}
	}
	return at, ok, rows.Err()
}

// Renew implements live.Membership.
func (l *Reader) Renew(ctx context.Context, replica string, judged int64) error {
	return l.lease(ctx, replica, 0, judged)
}

// Leave implements live.Membership.
func (l *Reader) Leave(ctx context.Context, replica string, judged int64) error {
	return l.lease(ctx, replica, 1, judged)
}

// Judged implements live.Membership.
func (l *Reader) Judged(ctx context.Context, within time.Duration) (int64, error) {
	at, ok, err := l.moment(ctx, "replicas_judged", params{"lease": within.Milliseconds()})
	if err != nil {
		return 0, fmt.Errorf("read how far was judged: %w", err)
	}
	if !ok {
		return 0, nil
	}
	return at.UnixNano(), nil
}

// atRest are the states in which nothing more happens to an allocation by itself.
var atRest = func() (list string) {
	var quotes []string
	for _, state := range slices.Sorted(maps.Keys(semconv.AllocationMoves)) {
		if a := (correlator.Assessment{State: &state}); a.AtRest() {
			quotes = append(quotes, quoted(state))
		}
	}
	return "[" + strings.Join(quotes, ",") + "]"
}()

// Backlog implements live.Backlog.
func (l *Reader) Backlog(ctx context.Context, since int64, most int) (ids []string, err error) {
	rows, err := l.query(ctx, "backlog", params{"rest": atRest, "since": moment(since), "most": most})
	if err != nil {
		return nil, fmt.Errorf("list what is to be judged: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list what is to be judged: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// lease leaves seen_at to the server's clock.
func (l *Reader) lease(ctx context.Context, replica string, gone uint8, judged int64) error {
	if err := l.conn.Exec(ctx, "INSERT INTO replicas (replica, gone, judged) VALUES (?, ?, fromUnixTimestamp64Nano(?))", replica, gone, judged); err != nil {
		return fmt.Errorf("write the lease of %s: %w", replica, err)
	}
	return nil
}

// Live implements live.Membership.
func (l *Reader) Live(ctx context.Context, lease time.Duration) ([]string, error) {
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
