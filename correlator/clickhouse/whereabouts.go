package clickhouse

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
)

// placesAtOnce is how many allocations one question names (they travel in its address).
const placesAtOnce = 200

// whereabouts is where all records lie that carry one of some identifiers: as which allocations' ("" is nobody's), and
// between which Unix minutes.
type whereabouts struct {
	allocations []string
	first, last int64
	anywhere    bool // in too many places to name
}

// lie asks where records with one of these identifiers lie, but for those that were stamped with an allocation ("": of all).
func (l *Library) lie(ctx context.Context, keys []identity.Key, but string) (*whereabouts, error) {
	var named []string
	for _, k := range keys {
		if k.Kind == identity.Allocation {
			named = append(named, k.ID)
		}
	}
	rows, err := l.query(ctx, "whereabouts", params{"keys": texts(keys), "pairs": pairs(keys), "named": list(named), "most": placesAtOnce + 1})
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	w, n := &whereabouts{first: math.MaxInt32, last: math.MinInt32}, 0
	for rows.Next() {
		var allocation string
		var first, last int64
		if err := rows.Scan(&allocation, &first, &last); err != nil {
			return nil, fmt.Errorf("whereabouts: %w", err)
		}
		if n++; but != "" && allocation == but {
			continue
		}
		w.allocations = append(w.allocations, allocation)
		w.first, w.last = min(w.first, first), max(w.last, last)
	}
	w.anywhere = n > placesAtOnce
	return w, rows.Err()
}

// nowhere says that no record carries any of the identifiers.
func (w *whereabouts) nowhere() bool { return !w.anywhere && len(w.allocations) == 0 }

// into adds the parameters of the lines that end in "-- lies", or drops those lines where all of the table has to be asked.
func (w *whereabouts) into(text string, p params) string {
	if w == nil {
		return text
	}
	if !w.anywhere {
		p["places"], p["first_minute"], p["last_minute"] = list(w.allocations), w.first, w.last
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "-- lies\n") {
			out.WriteString(line)
		}
	}
	return out.String()
}
