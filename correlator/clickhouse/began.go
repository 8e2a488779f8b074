package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Began gives the earliest time that a record which was stamped with an allocation states, Unix nanoseconds, by
// allocation. One that no record was stamped with is not in the answer.
func (l *Reader) Began(ctx context.Context, allocations []string) (map[string]int64, error) {
	list := make([]string, len(allocations))
	for i, id := range allocations {
		list[i] = quoted(id)
	}
	rows, err := l.query(ctx, "began", params{"allocations": "[" + strings.Join(list, ",") + "]"})
	if err != nil {
		return nil, fmt.Errorf("read when %d allocations began: %w", len(allocations), err)
	}
	defer func() { _ = rows.Close() }()
	out := make(map[string]int64, len(allocations))
	for rows.Next() {
		var id string
		var first time.Time
		if err := rows.Scan(&id, &first); err != nil {
			return nil, fmt.Errorf("read when %d allocations began: %w", len(allocations), err)
		}
		out[id] = first.UnixNano()
	}
	return out, rows.Err()
}
