package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/live"
)

var _ live.VerdictHistory = (*Reader)(nil)

// maxAssessments bounds a question over all allocations; the most recently changed ones are kept.
const maxAssessments = 50_000

// Write implements live.VerdictHistory. The same judgement written again replaces itself.
func (l *Reader) Write(ctx context.Context, revisions []correlator.Revision) error {
	if len(revisions) == 0 {
		return nil
	}
	batch, err := l.conn.PrepareBatch(ctx, "INSERT INTO verdicts (allocation_id, as_of, rules_version, outcome, layer, mechanism, answer, ingested_time, replica)")
	if err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	defer func() { _ = batch.Close() }()
	now := l.said.next(time.Now())
	for _, c := range revisions {
		answer, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("write verdict of %s: %w", c.ID, err)
		}
		layer, mechanism, v := "", "", c.Assessment.Verdict
		if len(v.Faults) > 0 {
			layer, mechanism = v.Faults[0].Layer, v.Faults[0].Mechanism
		}
		if err := batch.Append(c.ID, time.Unix(0, int64(c.JudgedAt)).UTC(), v.RulesVersion, v.Outcome, layer, mechanism, string(answer), now, l.replica); err != nil {
			return fmt.Errorf("write verdict of %s: %w", c.ID, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write %d verdicts: %w", len(revisions), err)
	}
	return nil
}

// saidAt gives times at which one replica says something: they rise, whatever its clock does, as whoever follows it relies on.
type saidAt struct{ last atomic.Int64 }

func (s *saidAt) next(now time.Time) time.Time {
	for {
		last := s.last.Load()
		at := max(now.UnixNano(), last+1)
		if s.last.CompareAndSwap(last, at) {
			return time.Unix(0, at).UTC()
		}
	}
}

// Assessments implements live.VerdictHistory.
func (l *Reader) Assessments(ctx context.Context, asOf int64) ([]correlator.Assessment, int, error) {
	name, p, all := "assessments", params{"most": maxAssessments}, uint64(0)
	if asOf != 0 {
		name, p["as_of"] = "assessments_as_of", moment(asOf)
	} else {
		var err error
		if all, err = l.examined(ctx); err != nil {
			return nil, 0, fmt.Errorf("count assessments: %w", err)
		}
	}
	revisions, err := l.revisions(ctx, name, p)
	if err != nil {
		return nil, 0, fmt.Errorf("read assessments: %w", err)
	}
	out := make([]correlator.Assessment, 0, len(revisions))
	for _, c := range revisions {
		out = append(out, c.Assessment)
	}
	if asOf != 0 {
		all = uint64(len(out))
	}
	return out, int(all), nil //nolint:gosec // bounded by the number of allocations
}

// examined is how many allocations have been judged.
func (l *Reader) examined(ctx context.Context) (n uint64, err error) {
	text, err := statement("examined", choice{})
	if err != nil {
		return 0, err
	}
	err = l.conn.QueryRow(ctx, text).Scan(&n)
	return n, err
}

// History implements live.VerdictHistory.
func (l *Reader) History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error) {
	revisions, err := l.revisions(ctx, "history", params{"allocation": plain(allocation), "most": most})
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", allocation, err)
	}
	slices.Reverse(revisions)
	return revisions, nil
}

// Last implements live.VerdictHistory.
func (l *Reader) Last(ctx context.Context, allocations []string) (map[string]correlator.Revision, error) {
	list := make([]string, len(allocations))
	for i, id := range allocations {
		list[i] = quoted(id)
	}
	revisions, err := l.revisions(ctx, "last_assessments", params{"allocations": "[" + strings.Join(list, ",") + "]"})
	if err != nil {
		return nil, fmt.Errorf("read the last verdicts of %d allocations: %w", len(allocations), err)
	}
	out := make(map[string]correlator.Revision, len(revisions))
	for _, c := range revisions {
		out[c.ID] = c
	}
	return out, nil
}

// revisions runs a query whose one column is a change as JSON.
func (l *Reader) revisions(ctx context.Context, name string, p params) ([]correlator.Revision, error) {
	rows, err := l.query(ctx, name, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := []correlator.Revision{}
	for rows.Next() {
		var answer string
		if err := rows.Scan(&answer); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var c correlator.Revision
		if err := json.Unmarshal([]byte(answer), &c); err != nil {
			return nil, fmt.Errorf("%s: a stored verdict is no JSON of ours: %w", name, err)
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
