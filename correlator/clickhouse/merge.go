package clickhouse

import (
	"context"

	"github.com/faultline-io/faultline/correlator"
)

// next takes rows in order from all sources, at least a number of them where there are so many, and
// never a part of the copies at one position.
func next(ctx context.Context, l *Library, sources []*source, part stretch, size int, order func(a, b correlator.Position) int) ([]row, error) {
	var out []row
	most := max(firstFetch, mostFetch/max(1, len(sources)))
	for {
		var first *source
		for _, s := range sources {
			if err := s.fill(ctx, l, part, most); err != nil {
				return nil, err
			}
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
