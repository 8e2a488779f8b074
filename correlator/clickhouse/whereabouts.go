package clickhouse

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/identity"
)

// placesAtOnce is how many allocations one question names (they travel in its address).
const placesAtOnce = 200

// whereabouts is where all records lie that carry one of some identifiers: as which allocations' ("" is nobody's), and
// between which Unix minutes.
type whereabouts struct {
	allocations []string
	first, last int64
	adrift      int64 // minutes between stamped and observed times, at most
	anywhere    bool  // in too many places to name
}

// lookup is what is asked about whereabouts.
type lookup struct {
	keys  []identity.Key
	named []string          // allocations that the keys lead to: whatever was stamped with them may carry one
	but   string            // an allocation whose own records are read otherwise, "" is none
	while identity.Interval // of the stamped or the observed time
}

// lie asks where records with one of these identifiers lie.
func (l *Library) lie(ctx context.Context, q lookup) (*whereabouts, error) {
	text, err := queries.ReadFile("sql/whereabouts_told.sql")
	if err != nil {
		return nil, err
	}
	p := params{
		"keys": texts(q.keys), "named": list(q.named), "most": placesAtOnce + 1,
		"since_minute": minuteOf(q.while.From), "until_minute": minuteOf(q.while.To),
	}
	asked := string(text)
	if len(q.named) == 0 {
		asked = without(asked, "-- named")
	}
	rows, err := l.ask(ctx, asked, p, nil)
	if err != nil {
		return nil, fmt.Errorf("whereabouts_told: %w", err)
	}
	w, err := scanPlaces(rows, q.but)
	if err != nil {
		return nil, fmt.Errorf("whereabouts_told: %w", err)
	}
	// minutes, and one more on each side: the delay is cut to whole minutes, and so are both times
	if q.while.From > math.MinInt64 {
		w.first = max(w.first, minuteOf(q.while.From)-w.adrift-2)
	}
	if q.while.To < math.MaxInt64 {
		w.last = min(w.last, minuteOf(q.while.To)+w.adrift+2)
	}
	return w, nil
}

// lieLinked asks the same of identifiers of whose links nothing is known yet: the store looks them up.
func (l *Library) lieLinked(ctx context.Context, keys []identity.Key) (*whereabouts, error) {
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
	w, err := scanPlaces(rows, "")
	if err != nil {
		return nil, fmt.Errorf("whereabouts: %w", err)
	}
	return w, nil
}

func scanPlaces(rows driver.Rows, but string) (*whereabouts, error) {
	defer func() { _ = rows.Close() }()
	w, n := &whereabouts{first: math.MaxInt32, last: math.MinInt32}, 0
	for rows.Next() {
		var allocation string
		var first, last, adrift int64
		if err := rows.Scan(&allocation, &first, &last, &adrift); err != nil {
			return nil, err
		}
		if n++; but != "" && allocation == but {
			continue
		}
		w.allocations = append(w.allocations, allocation)
		w.first, w.last, w.adrift = min(w.first, first), max(w.last, last), max(w.adrift, adrift)
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
	return without(text, "-- lies")
}

// without drops the lines of a statement that end with a mark.
func without(text, mark string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(strings.TrimSuffix(line, "\n"), mark) {
			out.WriteString(line)
		}
	}
	return out.String()
}
