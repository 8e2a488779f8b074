package clickhouse

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/live"
)

var _ live.DurationStore = (*Reader)(nil)

// AddDurations implements live.DurationStore. A step that is filed again replaces itself.
func (l *Reader) AddDurations(ctx context.Context, steps []correlator.CompletedStep) error {
	if len(steps) == 0 {
		return nil
	}
	batch, err := l.conn.PrepareBatch(ctx, "INSERT INTO steps (step, ended, allocation_id, part, took)")
	if err != nil {
		return fmt.Errorf("file steps: %w", err)
	}
	defer func() { _ = batch.Close() }()
	for _, s := range steps {
		if err := batch.Append(s.Step, time.Unix(0, s.Ended).UTC(), s.Allocation, s.Part, int64(s.Took)); err != nil {
			return fmt.Errorf("file step %s of %s: %w", s.Step, s.Allocation, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("file %d steps: %w", len(steps), err)
	}
	return nil
}

// took is what the store knows of every step.
type took map[string]struct {
	p99 time.Duration
	n   int
}

// P99 implements correlator.Durations.
func (t took) P99(step string) (time.Duration, int) { return t[step].p99, t[step].n }

// Durations implements live.DurationStore.
func (l *Reader) Durations(ctx context.Context, asOf int64) (correlator.Durations, error) {
	if asOf == 0 {
		asOf = time.Now().UnixNano()
	}
	rows, err := l.query(ctx, "durations", params{"from": moment(asOf - int64(correlator.Lately)), "to": moment(asOf)})
	if err != nil {
		return nil, fmt.Errorf("read what steps took: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := took{}
	for rows.Next() {
		var step string
		var p99 int64
		var n uint64
		if err := rows.Scan(&step, &p99, &n); err != nil {
			return nil, fmt.Errorf("read what steps took: %w", err)
		}
		out[step] = struct {
			p99 time.Duration
			n   int
		}{time.Duration(p99), int(n)} //nolint:gosec // bounded by the number of rows
	}
	return out, rows.Err()
}

// durationCache is what steps took, as it was last read: it moves slowly, and stories are asked for one after the other.
type durationCache struct {
	mu   sync.Mutex
	at   time.Time
	took correlator.Durations
}

// cacheFor is how long the durations that were read are used.
const cacheFor = 5 * time.Minute

// durations is what steps took by a moment, 0 for now.
func (l *Reader) durations(ctx context.Context, asOf int64) (correlator.Durations, error) {
	if asOf != 0 {
		return l.Durations(ctx, asOf)
	}
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	if l.cache.took != nil && time.Since(l.cache.at) < cacheFor {
		return l.cache.took, nil
	}
	took, err := l.Durations(ctx, 0)
	if err != nil {
		return nil, err
	}
	l.cache.at, l.cache.took = time.Now(), took
	return took, nil
}
