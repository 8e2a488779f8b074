package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

var _ correlator.Ledger = (*Library)(nil)

// maxStandings bounds a question over all allocations; the most recently changed ones are kept.
const maxStandings = 50_000

// Write implements correlator.Ledger. The same judgement written again replaces itself.
func (l *Library) Write(ctx context.Context, revisions []correlator.Revision) error {
	if len(revisions) == 0 {
		return nil
	}
	batch, err := l.conn.PrepareBatch(ctx, "INSERT INTO verdicts (allocation_id, as_of, rules_version, outcome, layer, mechanism, answer, ingested_time)")
	if err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	defer func() { _ = batch.Close() }()
	now := time.Now().UTC()
	for _, c := range revisions {
		answer, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("write verdict of %s: %w", c.ID, err)
		}
		layer, mechanism, v := "", "", c.Standing.Verdict
		if len(v.Faults) > 0 {
			layer, mechanism = v.Faults[0].Layer, v.Faults[0].Mechanism
		}
		if err := batch.Append(c.ID, time.Unix(0, int64(c.JudgedAt)).UTC(), v.RulesVersion, v.Outcome, layer, mechanism, string(answer), now); err != nil {
			return fmt.Errorf("write verdict of %s: %w", c.ID, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write %d verdicts: %w", len(revisions), err)
	}
	return nil
}

// Standings implements correlator.Ledger.
func (l *Library) Standings(ctx context.Context, asOf int64) ([]correlator.Standing, int, error) {
	name, p, all := "standings", params{"most": maxStandings}, uint64(0)
	if asOf != 0 {
		name, p["as_of"] = "standings_as_of", moment(asOf)
	} else if err := l.conn.QueryRow(ctx, text("examined")).Scan(&all); err != nil {
		return nil, 0, fmt.Errorf("count standings: %w", err)
	}
	revisions, err := l.revisions(ctx, name, p)
	if err != nil {
		return nil, 0, fmt.Errorf("read standings: %w", err)
	}
	out := make([]correlator.Standing, 0, len(revisions))
	for _, c := range revisions {
		out = append(out, c.Standing)
	}
	if asOf != 0 {
		all = uint64(len(out))
	}
	return out, int(all), nil //nolint:gosec // bounded by the number of allocations
}

// History implements correlator.Ledger.
func (l *Library) History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error) {
	revisions, err := l.revisions(ctx, "history", params{"allocation": allocation, "most": most})
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", allocation, err)
	}
	slices.Reverse(revisions)
	return revisions, nil
}

// Last implements correlator.Ledger.
func (l *Library) Last(ctx context.Context, allocations []string) (map[string]correlator.Revision, error) {
	list := make([]string, len(allocations))
	for i, id := range allocations {
		list[i] = quoted(id)
	}
	revisions, err := l.revisions(ctx, "last_words", params{"allocations": "[" + strings.Join(list, ",") + "]"})
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
func (l *Library) revisions(ctx context.Context, name string, p params) ([]correlator.Revision, error) {
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

// text is a query without parameters.
func text(name string) string {
	b, _ := queries.ReadFile("sql/" + name + ".sql") // embedded: a test reads every one
	return string(b)
}
