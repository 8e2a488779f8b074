package clickhouse

import (
	"context"

	"github.com/faultline-io/faultline/correlator/query"
)

// next takes rows in order from all sources, at least a number of them where there are so many, and
// never a part of the copies at one position.
func next(ctx context.Context, l *Reader, sources []*source, part stretch, size int, order func(a, b query.Position) int) ([]row, error) {
	var out []row
	most := max(firstFetch, mostFetch/max(1, len(sources)))
	for {
		if err := fill(ctx, l, sources, part, most); err != nil {
			return nil, err
		}
		var first *source
		for _, s := range sources {
			if len(s.rows) > 0 && (first == nil || order(s.rows[0].position(), first.rows[0].position()) < 0) {
				first = s
			}
		}
		if first == nil || len(out) >= size && first.rows[0].position() != out[len(out)-1].position() {
			return out, nil
		}
		out, first.rows = append(out, first.rows[0]), first.rows[1:]
	}
}

// fill fetches the next rows of those sources that have none left, together.
func fill(ctx context.Context, l *Reader, sources []*source, part stretch, most int) error {
	var all parallel[struct{}]
	for _, s := range sources {
		if len(s.rows) == 0 && !s.done {
			all = append(all, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.fill(ctx, l, part, most) })
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err := all.run(ctx)
	return err
}
