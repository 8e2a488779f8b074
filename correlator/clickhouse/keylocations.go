package clickhouse

import (
	"context"
	"fmt"
	"math"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/identity"
)

// placesAtOnce is how many allocations one question names (they travel in its address).
const placesAtOnce = 200

// keyLocations is where all records lie that carry one of some identifiers: as which allocations' ("" is nobody's), and
// between which Unix minutes.
type keyLocations struct {
	allocations []string
	first, last int64
	maxSkew     int64 // minutes between stamped and observed times, at most
	anywhere    bool  // in too many places to name
}

// lookup is what is asked about locations.
type lookup struct {
	keys  []identity.Key
	named []string          // allocations that the keys lead to: whatever was stamped with them may carry one
	but   string            // an allocation whose own records are read otherwise, "" is none
	while identity.Interval // of the stamped or the observed time
}

// locate asks where records with one of these identifiers lie.
func (l *Reader) locate(ctx context.Context, q lookup) (*keyLocations, error) {
	p := params{
		"keys": texts(q.keys), "named": list(q.named), "most": placesAtOnce + 1,
		"since_minute": minuteOf(q.while.From), "until_minute": minuteOf(q.while.To),
	}
	rows, err := l.run(ctx, "locate", choice{Named: len(q.named) > 0}, p, nil)
	if err != nil {
		return nil, err
	}
	w, err := scanPlaces(rows, q.but)
	if err != nil {
		return nil, fmt.Errorf("locate: %w", err)
	}
	// minutes, and one more on each side: the delay is cut to whole minutes, and so are both times
	if q.while.From > math.MinInt64 {
		w.first = max(w.first, minuteOf(q.while.From)-w.maxSkew-2)
	}
	if q.while.To < math.MaxInt64 {
		w.last = min(w.last, minuteOf(q.while.To)+w.maxSkew+2)
	}
	return w, nil
}

// locateLinked asks the same of identifiers of whose links nothing is known yet: the store looks them up.
func (l *Reader) locateLinked(ctx context.Context, keys []identity.Key) (*keyLocations, error) {
	var named []string
	for _, k := range keys {
		if k.Kind == identity.Allocation {
			named = append(named, k.ID)
		}
	}
	rows, err := l.query(ctx, "locate_linked", params{"keys": texts(keys), "pairs": pairs(keys), "named": list(named), "most": placesAtOnce + 1})
	if err != nil {
		return nil, err
	}
	w, err := scanPlaces(rows, "")
	if err != nil {
		return nil, fmt.Errorf("locate_linked: %w", err)
	}
	return w, nil
}

func scanPlaces(rows driver.Rows, but string) (*keyLocations, error) {
	defer func() { _ = rows.Close() }()
	w, n := &keyLocations{first: math.MaxInt32, last: math.MinInt32}, 0
	for rows.Next() {
		var allocation string
		var first, last, maxSkew int64
		if err := rows.Scan(&allocation, &first, &last, &maxSkew); err != nil {
			return nil, err
		}
		if n++; but != "" && allocation == but {
			continue
		}
		w.allocations = append(w.allocations, allocation)
		w.first, w.last, w.maxSkew = min(w.first, first), max(w.last, last), max(w.maxSkew, maxSkew)
	}
	w.anywhere = n > placesAtOnce
	return w, rows.Err()
}

// minuteOf is the Unix minute of a time in nanoseconds, rounded down.
func minuteOf(t int64) int64 {
	m := t / int64(60e9)
	if t%int64(60e9) < 0 {
		m--
	}
	return m
}

// empty says that no record carries any of the identifiers.
func (w *keyLocations) empty() bool { return !w.anywhere && len(w.allocations) == 0 }

// only is the one allocation that is located, "" where there are none or several.
func (w *keyLocations) only() string {
	one := ""
	for _, id := range w.allocations {
		switch {
		case id == "":
		case one != "":
			return ""
		default:
			one = id
		}
	}
	if w.anywhere {
		return ""
	}
	return one
}

// bind adds the parameters that say where to look; located is false where all of the table has to be asked.
func (w *keyLocations) bind(p params) (located bool) {
	if w == nil || w.anywhere {
		return false
	}
	p["places"], p["first_minute"], p["last_minute"] = list(w.allocations), w.first, w.last
	return true
}
