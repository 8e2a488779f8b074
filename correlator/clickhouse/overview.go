package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/overview"
	"github.com/faultline-io/faultline/correlator/query"
)

var (
	_ overview.Source = (*Reader)(nil)
	_ query.Labels    = (*Reader)(nil)
)

// Heads implements overview.Source.
func (l *Reader) Heads(ctx context.Context, since int64, most int) ([]query.Head, error) {
	rows, err := l.run(ctx, "heads", choice{Since: since != 0}, params{"since": moment(since), "most": most}, nil)
	if err != nil {
		return nil, fmt.Errorf("read where allocations stand: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []query.Head
	for rows.Next() {
		var h query.Head
		var state string
		var entered *time.Time
		var first, last, taken time.Time
		if err := rows.Scan(&h.ID, &state, &entered, &first, &last, &taken); err != nil {
			return nil, fmt.Errorf("read where allocations stand: %w", err)
		}
		h.First, h.Last, h.Taken = correlator.Time(first.UnixNano()), correlator.Time(last.UnixNano()), taken.Unix()
		if state != "" && entered != nil {
			at := correlator.Time(entered.UnixNano())
			h.State, h.Since = &state, &at
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

// LabelsSince implements overview.Source.
func (l *Reader) LabelsSince(ctx context.Context, since int64) ([]query.Label, error) {
	return l.labels(ctx, "labels", choice{Since: since != 0}, params{"since": moment(since)})
}

// LabelsOf implements query.Labels.
func (l *Reader) LabelsOf(ctx context.Context, allocation string) ([]query.Label, error) {
	return l.labels(ctx, "labels_of", choice{}, params{"id": plain(allocation)})
}

func (l *Reader) labels(ctx context.Context, name string, c choice, p params) ([]query.Label, error) {
	rows, err := l.run(ctx, name, c, p, nil)
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []query.Label
	for rows.Next() {
		var one query.Label
		if err := rows.Scan(&one.Allocation, &one.Name, &one.Value, &one.First); err != nil {
			return nil, fmt.Errorf("read labels: %w", err)
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// SaidSince implements overview.Source.
func (l *Reader) SaidSince(ctx context.Context, since int64, most int) ([]query.Said, error) {
	rows, err := l.query(ctx, "said_since", params{"since": moment(since), "most": most})
	if err != nil {
		return nil, fmt.Errorf("read what was said: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []query.Said
	for rows.Next() {
		var one query.Said
		var answer string
		if err := rows.Scan(&answer, &one.Replica, &one.Ingested); err != nil {
			return nil, fmt.Errorf("read what was said: %w", err)
		}
		if err := json.Unmarshal([]byte(answer), &one.Revision); err != nil {
			return nil, fmt.Errorf("read what was said: a stored verdict is no JSON of ours: %w", err)
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// LastSaid implements overview.Source.
func (l *Reader) LastSaid(ctx context.Context, most int) ([]query.Said, error) {
	rows, err := l.query(ctx, "said_last", params{"most": most})
	if err != nil {
		return nil, fmt.Errorf("read the last words: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []query.Said
	for rows.Next() {
		var one query.Said
		var id, outcome, answer string
		var judged int64
		if err := rows.Scan(&id, &judged, &outcome, &answer); err != nil {
			return nil, fmt.Errorf("read the last words: %w", err)
		}
		if one.Quiet = answer == ""; one.Quiet {
			one.ID, one.JudgedAt = id, correlator.Time(judged)
			one.Assessment.ID, one.Assessment.Verdict.Outcome = id, outcome
		} else if err := json.Unmarshal([]byte(answer), &one.Revision); err != nil {
			return nil, fmt.Errorf("read the last words: a stored verdict is no JSON of ours: %w", err)
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// SaidMarks implements overview.Source.
func (l *Reader) SaidMarks(ctx context.Context, since int64) ([]overview.Mark, error) {
	rows, err := l.query(ctx, "said_marks", params{"since": moment(since)})
	if err != nil {
		return nil, fmt.Errorf("read when something was said: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []overview.Mark
	for rows.Next() {
		var m overview.Mark
		if err := rows.Scan(&m.Allocation, &m.JudgedAt, &m.Ingested); err != nil {
			return nil, fmt.Errorf("read when something was said: %w", err)
		}
		out = append(out, m)
	}
	return out, rows.Err()
}
