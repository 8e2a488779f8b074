package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/record"
)

var _ query.Supplements = (*Reader)(nil)

// Supplement implements query.Supplements.
func (l *Reader) Supplement(ctx context.Context, allocation string) (s correlator.Supplement, ok bool, err error) {
	rows, err := l.query(ctx, "supplement", params{"id": plain(allocation)})
	if err != nil {
		return s, false, fmt.Errorf("read what was kept of %s: %w", allocation, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var answer, version string
		if err := rows.Scan(&answer, &version); err != nil {
			return s, false, fmt.Errorf("read what was kept of %s: %w", allocation, err)
		}
		if version != correlator.RulesVersion {
			continue // other rules judged: it is no answer of these
		}
		if err := json.Unmarshal([]byte(answer), &s); err != nil {
			return s, false, fmt.Errorf("read what was kept of %s: no JSON of ours: %w", allocation, err)
		}
		ok = true
	}
	return s, ok, rows.Err()
}

// WriteSupplements implements query.Supplements.
func (l *Reader) WriteSupplements(ctx context.Context, list []correlator.Supplement) error {
	if len(list) == 0 {
		return nil
	}
	batch, err := l.conn.PrepareBatch(ctx, "INSERT INTO supplements (allocation_id, judged_at, rules_version, answer, ingested_time)")
	if err != nil {
		return fmt.Errorf("write supplements: %w", err)
	}
	defer func() { _ = batch.Close() }()
	now := time.Now().UTC()
	for _, s := range list {
		answer, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("write the supplement of %s: %w", s.ID, err)
		}
		if err := batch.Append(s.ID, time.Unix(0, int64(s.JudgedAt)).UTC(), s.Verdict.RulesVersion, string(answer), now); err != nil {
			return fmt.Errorf("write the supplement of %s: %w", s.ID, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write %d supplements: %w", len(list), err)
	}
	return nil
}

// dayOfMinutes is how much wider than what is known an allocation is read, for records that are being written (sql/allocation_known.sql).
const dayOfMinutes = 24 * 60

// Stamped implements query.Supplements.
func (l *Reader) Stamped(ctx context.Context, allocation string, head query.Head) ([]*record.Record, error) {
	p := params{"first_minute": minuteOf(int64(head.First)) - dayOfMinutes, "last_minute": minuteOf(int64(head.Last)) + dayOfMinutes}
	if head.ID == "" {
		var known bool
		var err error
		if p, known, err = l.minutesOf(ctx, allocation); err != nil || !known {
			return nil, err
		}
	}
	p["allocation"], p["as_of"], p["most"] = plain(allocation), moment(forever), maxRecords
	rows, err := l.run(ctx, "events_of_allocation", choice{Located: true}, p, nil)
	if err != nil {
		return nil, err
	}
	return scanAll("events_of_allocation", rows)
}

// placedAtOnce is how many records one question names.
const placedAtOnce = 200

// Placed implements query.Supplements.
func (l *Reader) Placed(ctx context.Context, places []correlator.Placed) ([]*record.Record, error) {
	var all parallel[[]*record.Record]
	for part := range slices.Chunk(places, placedAtOnce) {
		all = append(all, func(ctx context.Context) ([]*record.Record, error) { return l.placed(ctx, part) })
	}
	found, err := all.run(ctx)
	return slices.Concat(found...), err
}

func (l *Reader) placed(ctx context.Context, places []correlator.Placed) ([]*record.Record, error) {
	type place struct {
		time        int64
		source, key string
	}
	meant := make(map[place]bool, len(places))
	lists := map[string][]string{}
	add := func(list, value string) {
		if !slices.Contains(lists[list], value) {
			lists[list] = append(lists[list], value)
		}
	}
	for _, p := range places {
		meant[place{p.Time, p.Source, p.Key}] = true
		add("minutes", fmt.Sprint(minuteOf(p.Time)))
		add("times", fmt.Sprint(p.Time))
		add("allocations", quoted(p.Stamped))
		add("nodes", quoted(p.OnNode))
		add("services", quoted(p.Source))
		add("keys", quoted(p.Key))
	}
	asked := params{}
	for name, values := range lists {
		asked[name] = "[" + strings.Join(values, ",") + "]"
	}
	found, err := l.records(ctx, "events_placed", asked)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(r *record.Record) bool {
		return !meant[place{r.Time, r.Service, r.Key()[:record.KeyDigits]}]
	}), nil
}
