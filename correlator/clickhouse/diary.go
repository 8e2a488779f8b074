package clickhouse

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

var _ correlator.Diary = (*Library)(nil)

// File implements correlator.Diary. A step that is filed again replaces itself.
func (l *Library) File(ctx context.Context, steps []correlator.Finished) error {
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

// Took implements correlator.Diary.
func (l *Library) Took(ctx context.Context, asOf int64) (correlator.Durations, error) {
	if asOf == 0 {
		asOf = time.Now().UnixNano()
	}
	rows, err := l.query(ctx, "took", params{"from": moment(asOf - int64(correlator.Lately)), "to": moment(asOf)})
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

// recalled is what steps took, as it was last read: it moves slowly, and stories are asked for one after the other.
type recalled struct {
	mu   sync.Mutex
	at   time.Time
	took correlator.Durations
}

// recallEvery is how long a library goes on with what it read of the diary.
const recallEvery = 5 * time.Minute

// durations is what steps took by a moment, 0 for now.
func (l *Library) durations(ctx context.Context, asOf int64) (correlator.Durations, error) {
	if asOf != 0 {
		return l.Took(ctx, asOf)
	}
	l.recalled.mu.Lock()
	defer l.recalled.mu.Unlock()
	if l.recalled.took != nil && time.Since(l.recalled.at) < recallEvery {
		return l.recalled.took, nil
	}
	took, err := l.Took(ctx, 0)
	if err != nil {
		return nil, err
	}
	l.recalled.at, l.recalled.took = time.Now(), took
	return took, nil
}
