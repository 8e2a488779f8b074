package storebench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Contender is one way to store the same records.
type Contender struct {
	Name, Database string
	// Tables hold the records, Finders what else finds them; Aside what else is kept of them.
	Tables, Finders, Aside []string
	// Create makes the tables; Fill copies the rows of a part of ours into them.
	Create, Fill []string
	// Questions are the statements that answer each question, one after the other.
	Questions map[Question][]string
}

// Ours are the tables that Fill has written.
func Ours(database string) Contender {
	return Contender{
		Name: "ours", Database: database, Tables: []string{"events"}, Finders: []string{"allocations", "key_locations"},
		Aside:     []string{"links", "links_by_object", "links_by_time", "liveness", "states", "labels"},
		Questions: ourQuestions,
	}
}

// parts of the copy: as many inserts, in the order of arrival, so that a copy has several parts as well.
const copies = 8

// Copy makes the tables and fills them from ours; those that a run before has kept, with as many records, stay.
func (c Contender) Copy(ctx context.Context, e *Engine, ours string) error {
	kept, _, err := e.Ask(ctx, "", fmt.Sprintf(`SELECT count() FROM system.databases WHERE name = '%s' AND (
SELECT sum(total_rows) FROM system.tables WHERE database = '%[1]s' AND name IN ('otel_logs', 'otel_traces')) = (
SELECT total_rows FROM system.tables WHERE database = '%s' AND name = 'events')`, c.Database, ours), nil)
	if err != nil || strings.TrimSpace(string(kept)) == "1" {
		return err
	}
	if err := e.Exec(ctx, "", "CREATE DATABASE "+c.Database); err != nil {
		return err
	}
	for _, s := range c.Create {
		if err := e.Exec(ctx, c.Database, s); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	answer, _, err := e.Ask(ctx, ours, "SELECT toUnixTimestamp(min(ingested_time)), toUnixTimestamp(max(ingested_time)) + 1 FROM events", nil)
	if err != nil {
		return err
	}
	bounds := lines(answer)[0]
	from, _ := strconv.ParseInt(bounds[0], 10, 64)
	to, _ := strconv.ParseInt(bounds[1], 10, 64)
	for i := range int64(copies) {
		part := fmt.Sprintf("ingested_time >= toDateTime64(%d, 9, 'UTC') AND ingested_time < toDateTime64(%d, 9, 'UTC')",
			from+(to-from)*i/copies, from+(to-from)*(i+1)/copies)
		for _, s := range c.Fill {
			s = strings.NewReplacer("/* ours */", ours, "/* part */", part).Replace(s)
			if _, _, err := e.Ask(ctx, c.Database, s, map[string]string{"max_threads": "2", "max_insert_threads": "1"}); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// Size is what tables take on disk, all of their indexes included.
type Size struct {
	Rows, Bytes, Parts uint64
}

// Sizes of a contender: its records with what finds them, and what stands aside.
func (c Contender) Sizes(ctx context.Context, e *Engine) (records, aside Size, err error) {
	answer, _, err := e.Ask(ctx, "", "SELECT table, sum(rows), sum(bytes_on_disk), count() FROM system.parts WHERE active AND database = '"+c.Database+"' GROUP BY table", nil)
	if err != nil {
		return records, aside, err
	}
	for _, l := range lines(answer) {
		to := &records
		if slices.Contains(c.Aside, l[0]) {
			to = &aside
		}
		if l[0] == "schema_migrations" || strings.HasPrefix(l[0], "schema_lock") {
			continue
		}
		n := func(i int) uint64 { v, _ := strconv.ParseUint(l[i], 10, 64); return v }
		if slices.Contains(c.Finders, l[0]) { // it holds no records
			to.Bytes += n(2)
			continue
		}
		to.Rows, to.Bytes, to.Parts = to.Rows+n(1), to.Bytes+n(2), to.Parts+n(3)
	}
	return records, aside, nil
}
