package schema

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Stats is what the store holds.
type Stats struct {
	Rows   uint64       `json:"rows"`
	Bytes  uint64       `json:"bytes"`
	Tables []TableStats `json:"tables"` // the largest first
}

// TableStats is what one table holds on disk, with everything that belongs to its active parts.
type TableStats struct {
	Table       string        `json:"table"`
	Rows        uint64        `json:"rows"`
	Bytes       uint64        `json:"bytes"`
	BytesPerRow float64       `json:"bytes_per_row"`
	Parts       uint64        `json:"parts"`
	Oldest      *time.Time    `json:"oldest,omitempty"` // by the time of arrival; nil where there are no rows or no such time
	Newest      *time.Time    `json:"newest,omitempty"`
	Kept        []Kept        `json:"kept,omitempty"` // empty: for ever
	Columns     []ColumnStats `json:"columns"`        // the largest first
	IndexBytes  uint64        `json:"index_bytes"`    // skip indexes, primary keys and marks: what is no column's
	SmallBytes  uint64        `json:"small_bytes"`    // data of parts that keep all columns in one file, as those of events do
	Estimated   bool          `json:"estimated"`      // the columns' shares of SmallBytes are, from a sample
}

// Kept is for how long a table's rows are kept at least.
type Kept struct {
	Kind string `json:"kind,omitempty"` // of evidence: lifecycle, raw, node; "" is all of the table
	Days int    `json:"days"`
}

// ColumnStats is what one column takes on disk.
type ColumnStats struct {
	Column      string  `json:"column"`
	Bytes       uint64  `json:"bytes"`
	BytesPerRow float64 `json:"bytes_per_row"`
}

// readStats asks the store. In a cluster it is about the replica that answers.
func readStats(ctx context.Context, conn driver.Conn) (Stats, error) {
	engines, err := engines(ctx, conn)
	if err != nil {
		return Stats{}, err
	}
	if len(engines) == 0 {
		return Stats{}, ErrNoTables
	}
	rows, err := conn.Query(ctx, `SELECT table, sum(rows) AS r, sum(bytes_on_disk) AS b, count(), sumIf(data_compressed_bytes, part_type = 'Compact') FROM system.parts
WHERE database = currentDatabase() AND active GROUP BY table ORDER BY b DESC, table`)
	if err != nil {
		return Stats{}, fmt.Errorf("read parts: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out Stats
	for rows.Next() {
		var t TableStats
		if err := rows.Scan(&t.Table, &t.Rows, &t.Bytes, &t.Parts, &t.SmallBytes); err != nil {
			return Stats{}, fmt.Errorf("read parts: %w", err)
		}
		if strings.HasPrefix(t.Table, lockPrefix) {
			continue
		}
		t.BytesPerRow, t.Kept = per(t.Bytes, t.Rows), kept(engines[t.Table])
		out.Rows, out.Bytes, out.Tables = out.Rows+t.Rows, out.Bytes+t.Bytes, append(out.Tables, t)
	}
	if err := rows.Err(); err != nil {
		return Stats{}, fmt.Errorf("read parts: %w", err)
	}
	for i := range out.Tables {
		if err := out.Tables[i].read(ctx, conn); err != nil {
			return Stats{}, err
		}
	}
	return out, nil
}

// arrivals are the columns that say when a row came, the first that a table has.
var arrivals = []string{"ingested_time", "last_ingested", "stored_time", "applied_at"}

func (t *TableStats) read(ctx context.Context, conn driver.Conn) error {
	rows, err := conn.Query(ctx, `SELECT name, data_compressed_bytes, type, default_kind, compression_codec FROM system.columns
WHERE database = currentDatabase() AND table = ? ORDER BY data_compressed_bytes DESC, name`, t.Table)
	if err != nil {
		return fmt.Errorf("read columns of %s: %w", t.Table, err)
	}
	defer func() { _ = rows.Close() }()
	has, columns := map[string]bool{}, uint64(0)
	var stored []column
	for rows.Next() {
		var c ColumnStats
		var kind, computed, codec string
		if err := rows.Scan(&c.Column, &c.Bytes, &kind, &computed, &codec); err != nil {
			return fmt.Errorf("read columns of %s: %w", t.Table, err)
		}
		if c.BytesPerRow = per(c.Bytes, t.Rows); computed != "ALIAS" {
			stored = append(stored, column{c.Column, kind, codec})
		}
		has[c.Column], columns, t.Columns = true, columns+c.Bytes, append(t.Columns, c)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read columns of %s: %w", t.Table, err)
	}
	t.IndexBytes = t.Bytes - min(columns+t.SmallBytes, t.Bytes)
	if err := t.estimate(ctx, conn, stored); err != nil {
		return err
	}
	for _, column := range arrivals {
		if !has[column] || t.Rows == 0 {
			continue
		}
		var oldest, newest time.Time
		if err := conn.QueryRow(ctx, fmt.Sprintf("SELECT min(%[1]s), max(%[1]s) FROM %[2]s", column, quote(t.Table))).Scan(&oldest, &newest); err != nil {
			return fmt.Errorf("read the age of %s: %w", t.Table, err)
		}
		oldest, newest = oldest.UTC(), newest.UTC()
		t.Oldest, t.Newest = &oldest, &newest
		break
	}
	return nil
}

func per(bytes, rows uint64) float64 {
	if rows == 0 {
		return 0
	}
	return float64(bytes) / float64(rows)
}

var (
	ttlText  = regexp.MustCompile(` TTL (.*) SETTINGS `)
	ttlDays  = regexp.MustCompile(`^(toMonday)?.*\+ toIntervalDay\((\d+)\)( WHERE \(node_id| WHERE)?`)
	ttlSplit = regexp.MustCompile(`, (?:toMonday|toDateTime)\(`)
)

// kept reads a table's TTLs as Retention writes them.
func kept(engine string) (out []Kept) {
	text := ttlText.FindStringSubmatch(engine)
	if text == nil {
		return nil
	}
	var parts []string
	begin := 0
	for _, at := range ttlSplit.FindAllStringIndex(text[1], -1) {
		parts, begin = append(parts, text[1][begin:at[0]]), at[0]+2
	}
	parts = append(parts, text[1][begin:])
	for _, p := range parts {
		m := ttlDays.FindStringSubmatch(p)
		if m == nil {
			continue
		}
		days, _ := strconv.Atoi(m[2])
		if m[1] != "" {
			days -= 7 // a week's rows go together
		}
		k := Kept{Days: days}
		switch m[3] {
		case " WHERE (node_id":
			k.Kind = "raw"
		case " WHERE":
			k.Kind = "node"
		default:
			if len(parts) > 1 {
				k.Kind = "lifecycle"
			}
		}
		out = append(out, k)
	}
	return out
}
