package store

import (
	"database/sql"
	"fmt"
	"time"
)

// Projection is what a view was last written, or why it could not be.
type Projection struct {
	AllocationID, Name      string
	Shown                   string // the state that the view shows; "" before the first write
	Failure                 string // of the last write; "" where it went well
	FailingSince, WrittenAt time.Time
}

// PutProjection writes what became of a write to a view. A failure keeps what was shown before.
func (t *Tx) PutProjection(p Projection) error {
	now, failing := t.Now(), int64(0)
	if p.Failure != "" {
		failing = nanos(now)
	}
	_, err := t.exec(`INSERT INTO projections (allocation_id, projection, shown, failure, failing_since, written_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (allocation_id, projection) DO UPDATE SET
			shown = CASE WHEN excluded.failure = '' THEN excluded.shown ELSE projections.shown END,
			written_at = CASE WHEN excluded.failure = '' THEN excluded.written_at ELSE projections.written_at END,
			failing_since = CASE WHEN excluded.failure = '' THEN 0 WHEN projections.failing_since = 0 THEN excluded.failing_since ELSE projections.failing_since END,
			failure = excluded.failure`,
		p.AllocationID, p.Name, p.Shown, p.Failure, failing, nanos(now))
	if err != nil {
		return fmt.Errorf("upsert projection: %w", err)
	}
	return nil
}

// FailingProjections lists views whose last write went wrong, the longest so first. What is over needs none.
func (t *Tx) FailingProjections(limit int) ([]Projection, error) {
	var out []Projection
	err := t.rows(func(r *sql.Rows) error {
		var p Projection
		var failing, written int64
		err := r.Scan(&p.AllocationID, &p.Name, &p.Shown, &p.Failure, &failing, &written)
		p.FailingSince, p.WrittenAt = timeOf(failing), timeOf(written)
		out = append(out, p)
		return err
	}, `SELECT allocation_id, projection, shown, failure, failing_since, written_at FROM projections
		WHERE failure <> '' AND allocation_id NOT IN (SELECT allocation_id FROM allocations WHERE state IN ('released', 'canceled'))
		ORDER BY failing_since, allocation_id LIMIT ?`, limit)
	return out, err
}
